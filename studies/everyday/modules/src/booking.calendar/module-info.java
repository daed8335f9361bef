module booking.calendar {
    exports booking.calendar;
}
