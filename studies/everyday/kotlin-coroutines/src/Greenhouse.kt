package greenhouse

data class Sample(val sensor: String, val celsius: Double, val tick: Int)

class Greenhouse(private val window: Int = 5) {
    private val samples = mutableMapOf<String, ArrayDeque<Double>>()
    private val alarms = mutableListOf<String>()

    @Synchronized
    fun accept(sample: Sample) {
        val recent = samples.getOrPut(sample.sensor) { ArrayDeque() }
        recent.addLast(sample.celsius)
        if (recent.size > window) recent.removeFirst()
        if (sample.celsius > 35) alarms += "${sample.sensor} at ${sample.tick}"
    }

    @Synchronized
    fun unsubscribe(sensor: String) {
        samples[sensor]?.clear()
    }

    fun sensors() = samples.keys.sorted()

    fun hottest(): Map<String, Double> = sensors().associateWith { samples.getValue(it).max() }

    fun alarms() = alarms.toList()
}
