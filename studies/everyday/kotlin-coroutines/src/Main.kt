package greenhouse

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

fun main() = runBlocking {
    val house = Greenhouse()
    val channel = Channel<Sample>(8)
    coroutineScope {
        launch(Dispatchers.Default) {
            for (tick in 1..20) {
                for (sensor in listOf("bench", "door", "roof")) {
                    channel.send(Sample(sensor, 18.0 + tick * (sensor.length - 3), tick))
                }
                delay(1)
            }
            channel.close()
        }
        launch {
            for (sample in channel) house.accept(sample)
        }
    }
    println(house.hottest())
    house.unsubscribe("door")
    println("${house.alarms().size} alarms")
    println(house.hottest())
}
