package music;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PlaylistTest {
    private static Track track(String title, int seconds) {
        return Track.builder().artist("The Examples").title(title).seconds(seconds).build();
    }

    @Test
    void aTrackIsAddedOnce() {
        Playlist list = new Playlist("morning");
        assertTrue(list.add(track("Rain", 200)));
        assertFalse(list.add(track("Rain", 200)));
    }

    @Test
    void favouritesAreKeptWhenPlayed() {
        Playlist list = new Playlist("evening");
        Track rain = track("Rain", 200);
        Track snow = Track.builder().artist("The Examples").title("Snow").build();
        list.add(rain);
        list.add(snow);
        list.like(snow);
        assertEquals(760, list.play(2));
        assertFalse(list.isFavourite(rain));
        assertTrue(list.isFavourite(snow));
    }
}
