module booking.app {
    requires booking.calendar;
}
