package payments;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.Mock;
import org.mockito.junit.jupiter.MockitoExtension;

@ExtendWith(MockitoExtension.class)
class RefundsTest {
    @Mock
    Gateway gateway;
    Refunds refunds;

    @BeforeEach
    void setUp() {
        refunds = new Refunds(gateway);
        when(gateway.captured("p1")).thenReturn(5000L);
    }

    @Test
    void nothingIsRefundedTwice() {
        when(gateway.refund(anyString(), anyLong())).thenReturn("r1");
        assertTrue(refunds.refund("p1", 5000));
        assertFalse(refunds.refund("p1", 1));
        verify(gateway, times(1)).refund("p1", 5000);
    }

    @Test
    void partsAreRefunded() {
        when(gateway.refund(anyString(), anyLong())).thenReturn("r1", "r2", "r3");
        assertTrue(refunds.refund("p1", 1000));
        assertTrue(refunds.refund("p1", 1500));
        assertEquals(2, refunds.receipts().size());
        assertEquals(2500, refunds.open("p1"));
    }
}
