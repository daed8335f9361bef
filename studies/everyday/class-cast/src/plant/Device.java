package plant;

abstract class Device {
    final String name;

    Device(String name) {
        this.name = name;
    }
}

class Tank extends Device {
    int litres;

    Tank(String name, int litres) {
        super(name);
        this.litres = litres;
    }
}

class Pump extends Device {
    Pump(String name) {
        super(name);
    }
}
