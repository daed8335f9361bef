package bug;

/** A binary search tree of things that can be compared. */
public class Tree {
    private Node root;
    private int size;

    public void insert(Comparable<?> data) {
        Node fresh = new Node(data);
        size++;
        if (root == null) {
            root = fresh;
            return;
        }
        Node at = root;
        while (true) {
            Node next = at.isAfter(data) ? at.getLeft() : at.getRight();
            if (next == null) {
                break;
            }
            at = next;
        }
        if (at.isAfter(data)) {
            at.setLeft(fresh);
        } else {
            at.setRight(fresh);
        }
    }

    public Node find(Comparable<?> data) {
        Node at = root;
        while (at != null && !at.getData().equals(data)) {
            at = at.isAfter(data) ? at.getLeft() : at.getRight();
        }
        return at;
    }

    public int size() {
        return size;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        append(root, text);
        return text.toString().trim();
    }

    private static void append(Node node, StringBuilder text) {
        if (node != null) {
            append(node.getLeft(), text);
            text.append(node.getData()).append(' ');
            append(node.getRight(), text);
        }
    }
}
