package bug;

/** Fills a tree with words, then overwrites one of them. */
public class Driver {
    public static void main(String[] args) {
        Tree tree = new Tree();
        for (String word : "oak ash elm yew fir box bay".split(" ")) {
            tree.insert(word);
        }
        System.out.println(tree.size() + " words: " + tree);
        Node node = tree.find("elm");
        node.setData("fig");
        System.out.println(tree);
        node.setData(new char[] {'e', 'l', 'm'});
        System.out.println(node.getData() == null ? "nothing" : "something");
    }
}
