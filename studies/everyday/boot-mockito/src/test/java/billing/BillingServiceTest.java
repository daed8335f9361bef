package billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.contains;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.InjectMocks;
import org.mockito.Mock;
import org.mockito.junit.jupiter.MockitoExtension;

@ExtendWith(MockitoExtension.class)
class BillingServiceTest {
    @Mock
    AccountRepository accounts;
    @Mock
    Mailer mailer;
    @InjectMocks
    BillingService billing;

    @Test
    void dollarsAreConverted() {
        when(accounts.findById("17")).thenReturn(Optional.of(new Account("17", "USD")));
        assertEquals(1842, billing.bill("17", List.of(new BillingService.Item("stamps", 20, 100))));
        verify(mailer).send(eq("17"), contains("18.42"));
    }

    @Test
    void unknownCurrenciesAreTakenForEuros() {
        when(accounts.findById("18")).thenReturn(Optional.of(new Account("18", "SEK")));
        assertEquals(700, billing.bill("18", List.of(new BillingService.Item("pens", 2, 300),
                new BillingService.Item("ink", 1, 100))));
    }
}
