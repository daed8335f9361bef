package tolls

import spock.lang.Specification
import spock.lang.Unroll

class TollSpec extends Specification {
    def toll = new Toll()

    def setup() {
        toll.charge(Toll.Vehicle.CAR, 3000)
    }

    def "receipts are kept"() {
        when:
        toll.charge(Toll.Vehicle.VAN, 2000)

        then:
        toll.receipts().size() == 2
        toll.total() == 43
    }

    @Unroll
    def "#vehicle pays #cents for #metres m"() {
        expect:
        toll.charge(vehicle, metres) == cents

        where:
        vehicle            | metres || cents
        Toll.Vehicle.CAR   | 5000   || 35
        Toll.Vehicle.TRUCK | 10000  || 240
        Toll.Vehicle.VAN   | 1250   || 22
    }
}
