package bug;

/** Adds up what a shopping basket costs. */
public class Driver {
    public static void main(String[] args) {
        Element basket = new Element("basket");
        String[] items = {"milk 2 90", "bread 1 250", "eggs 6 30"};
        for (String item : items) {
            String[] words = item.split(" ");
            Element element = new Element("item");
            element.setAttribute("name", words[0]);
            element.setAttribute("count", words[1]);
            element.setAttribute("price", words[2]);
            basket.addChild(element);
        }
        Element bag = new Element("item");
        bag.setAttribute("name", "bag");
        bag.setAttribute("price", "5");
        basket.addChild(bag);
        int total = 0;
        for (Element element : basket.getChildren()) {
            int price = element.getNumber("count", 1) * element.getNumber("price", 0);
            System.out.println(element.getAttribute("name", "?") + ": " + price);
            total += price;
        }
        System.out.println("total: " + total);
    }
}
