package venue;

import static org.hamcrest.Matchers.hasSize;
import static org.mockito.Mockito.when;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.web.servlet.WebMvcTest;
import org.springframework.boot.test.mock.mockito.MockBean;
import org.springframework.test.web.servlet.MockMvc;

@WebMvcTest(EventController.class)
class EventControllerTest {
    @Autowired
    MockMvc mvc;
    @MockBean
    EventStore store;

    @BeforeEach
    void programme() {
        when(store.upcoming()).thenReturn(List.of("Jazz Night", "Choir", "Poetry Slam", "Tango",
                "Night of Organs", "Quiz", "Chess", "Film Night", "Swing", "Opera"));
    }

    @Test
    void pagesAreCounted() throws Exception {
        mvc.perform(get("/events")).andExpect(status().isOk()).andExpect(jsonPath("$.pages").value(3));
    }

    @Test
    void lastPageHasTheRest() throws Exception {
        mvc.perform(get("/events?page=3"))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.items", hasSize(2)));
    }
}
