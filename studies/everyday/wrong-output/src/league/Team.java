package league;

class Team {
    private final String name;
    private int points;
    private int scored;
    private int conceded;

    Team(String name) {
        this.name = name;
    }

    void play(int scored, int conceded) {
        this.scored += scored;
        this.conceded += conceded;
        points += scored > conceded ? 3 : scored == conceded ? 1 : 0;
    }

    int points() {
        return points;
    }

    int difference() {
        return scored - conceded;
    }

    String row() {
        return name + " " + points + " " + scored + ":" + conceded;
    }
}
