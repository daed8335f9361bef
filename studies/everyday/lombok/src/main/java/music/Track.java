package music;

import lombok.Builder;
import lombok.Data;

@Data
@Builder
public class Track {
    private final String artist;
    private final String title;
    @Builder.Default
    private int seconds = 180;
    private int played;
}
