package music;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import lombok.Getter;
import lombok.NonNull;
import lombok.RequiredArgsConstructor;

@RequiredArgsConstructor
public class Playlist {
    @Getter
    @NonNull
    private final String name;
    private final Set<Track> tracks = new LinkedHashSet<>();
    private final Set<Track> favourites = new HashSet<>();

    public boolean add(Track track) {
        return tracks.add(track);
    }

    public void like(Track track) {
        favourites.add(track);
    }

    public int play(int times) {
        int seconds = 0;
        for (Track track : tracks) {
            track.setPlayed(track.getPlayed() + times);
            seconds += times * track.getSeconds();
        }
        return seconds;
    }

    public boolean isFavourite(Track track) {
        return favourites.contains(track);
    }
}
