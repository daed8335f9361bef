package bug;

/** A node of the tree. */
public class Node {
    private Comparable<Object> data;
    private Node left;
    private Node right;

    public Node(Object data) {
        setData(data);
    }

    @SuppressWarnings("unchecked")
    public void setData(Object data) {
        this.data = (Comparable<Object>) data;
    }

    public Object getData() {
        return data;
    }

    boolean isAfter(Object other) {
        return data.compareTo(other) > 0;
    }

    Node getLeft() {
        return left;
    }

    void setLeft(Node left) {
        this.left = left;
    }

    Node getRight() {
        return right;
    }

    void setRight(Node right) {
        this.right = right;
    }
}
