package bug;

/** Two trees of numbers; a mark is left in one of them. */
public class Driver {
    private static final Object MARK = new Object();

    public static void main(String[] args) {
        Tree odd = new Tree();
        Tree even = new Tree();
        for (int i = 0; i < 12; i++) {
            int number = i * 7 % 12;
            (number % 2 == 0 ? even : odd).insert(number);
        }
        System.out.println(odd + " | " + even);
        Node node = odd.find(5);
        System.out.println(node.isAfter(3) + " " + node.isAfter(9));
        even.find(8).setData(9);
        node.setData(MARK);
        System.out.println(node.getData() == null ? "nothing" : "something");
    }
}
