package bug;

/** Reads a few letters and lists what is in them. */
public class Driver {
    private static final String HEAD = "<?xml version=\"1.0\"?>\n<!-- kept by hand -->\n";

    public static void main(String[] args) {
        String[] letters = {
            HEAD + "<letter to='ann'><p>Dear Ann,</p><p>all is well.</p></letter>",
            HEAD + "<letter to='bob' urgent='yes'><p>Come home!</p></letter>\n<!-- sent -->\n",
            HEAD + "<letter to='eve'><p>Who <?who are?>you?</p></letter>\n<?print twice?>\n",
        };
        for (String letter : letters) {
            Element root = new Parser(letter).parse();
            System.out.println(root.getAttribute("to", "nobody") + ", urgent: "
                    + root.getAttribute("urgent", "no"));
            for (Element line : root.getChildrenNamed("p")) {
                System.out.println("  " + line.getText());
            }
        }
    }
}
