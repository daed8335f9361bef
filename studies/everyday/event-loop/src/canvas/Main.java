package canvas;

public class Main {
    public static void main(String[] args) throws InterruptedException {
        Drawing drawing = new Drawing();
        drawing.listen(System.out::println);
        EventLoop loop = new EventLoop();
        loop.start();
        for (String shape : new String[] {"circle", "square", "line", "star"}) {
            loop.post(() -> drawing.add(shape));
        }
        loop.post(() -> drawing.select(1));
        loop.post(drawing::delete);
        loop.post(drawing::undo);
        loop.post(() -> drawing.select(3));
        loop.post(() -> drawing.add("arrow"));
        loop.post(drawing::undo);
        loop.post(() -> drawing.add("cloud"));
        loop.close();
        System.out.println("closed");
    }
}
