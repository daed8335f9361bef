package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Clock;
import java.time.LocalDate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(ClockExtension.class)
class CartTest {
    Cart cart;

    @BeforeEach
    void create() {
        cart = new Cart();
    }

    @Test
    void costsNothingAtFirst() {
        assertEquals(0, cart.total());
    }

    @Nested
    class WithArticles {
        @BeforeEach
        void fill() {
            cart.put("lamp", 4500);
            cart.put("cable", 900);
            cart.put("plug", 350);
        }

        @Test
        void refusesStrangeVouchers() {
            assertThrows(IllegalArgumentException.class, () -> cart.redeem(120));
            assertEquals(5750, cart.total());
        }

        @Nested
        class OnBlackFriday {
            @BeforeEach
            void redeem(Clock clock) {
                cart.redeem(LocalDate.now(clock).getDayOfMonth() - 9);
            }

            @Test
            void keepsTheVoucher() {
                cart.remove("lamp");
                assertEquals(2, cart.size());
                assertEquals(1000, cart.total());
            }
        }
    }
}
