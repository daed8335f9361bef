package chess

import kotlin.test.BeforeTest
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertNull

class TournamentTest {
    private lateinit var tournament: Tournament

    @BeforeTest
    fun begin() {
        tournament = Tournament(rounds = 3)
    }

    @Test
    fun `nobody leads at first`() {
        assertNull(tournament.leader())
        assertFailsWith<IllegalArgumentException> { tournament.add("ivo", "ivo") }
    }

    @Test
    fun `two wins are more than two draws`() {
        tournament.add("ivo", "mia")
        tournament.add("ivo", "zoe")
        tournament.add("ivo", "lea")
        tournament.add("mia", "lea", Result.WHITE)
        tournament.add("zoe", "mia", Result.BLACK)
        assertEquals(3, tournament.games("mia"))
        assertEquals("mia", tournament.leader())
    }
}
