package lending;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.web.servlet.AutoConfigureMockMvc;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;

@SpringBootTest
@AutoConfigureMockMvc
class LendingApiTest {
    @Autowired
    MockMvc mvc;

    private void join(String json) throws Exception {
        mvc.perform(post("/members").contentType(MediaType.APPLICATION_JSON).content(json))
                .andExpect(status().isOk());
    }

    @Test
    void studentsKeepBooksForFourWeeks() throws Exception {
        join("{\"name\":\"ida\",\"grade\":\"STUDENT\"}");
        mvc.perform(post("/members/ida/loans?isbn=3-16-148410-0&day=2024-05-01"))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.due").value("2024-05-29"));
    }

    @Test
    void membersWithoutGradeKeepBooksForTwoWeeks() throws Exception {
        join("{\"name\":\"otto\"}");
        mvc.perform(post("/members/otto/loans?isbn=978-3-16-148410-0&day=2024-05-01"))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.due").value("2024-05-15"));
    }
}
