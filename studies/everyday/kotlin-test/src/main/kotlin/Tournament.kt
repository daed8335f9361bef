package chess

data class Game(val white: String, val black: String, val result: Result)

enum class Result { WHITE, BLACK, DRAW }

class Tournament(private val rounds: Int) {
    private val games = mutableListOf<Game>()
    private val points = sortedMapOf<String, Int>()

    fun add(white: String, black: String, result: Result = Result.DRAW) {
        require(white != black) { "$white cannot play alone" }
        games += Game(white, black, result)
        when (result) {
            Result.WHITE -> score(white, 2)
            Result.BLACK -> score(black, 2)
            Result.DRAW -> listOf(white, black).forEach { score(it, 2) }
        }
    }

    private fun score(player: String, halves: Int) {
        points.merge(player, halves, Int::plus)
    }

    fun games(player: String) = games.count { it.white == player || it.black == player }

    fun leader(): String? = points.maxByOrNull { it.value }?.key

    fun isOver() = games.groupBy { it.white }.values.all { it.size <= rounds }
}
