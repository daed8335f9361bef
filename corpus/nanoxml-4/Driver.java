package bug;

/** Moves employees between departments. */
public class Driver {
    public static void main(String[] args) {
        Element firm = new Element("firm");
        for (int d = 0; d < 3; d++) {
            Element department = new Element("department");
            department.setAttribute("id", "d" + d);
            for (int e = 0; e < 4; e++) {
                Element employee = new Element("employee");
                employee.setAttribute("id", "e" + d + e);
                department.addChild(employee);
            }
            firm.addChild(department);
        }
        Element first = firm.getChildren().get(0);
        Element last = firm.getChildren().get(2);
        Element moved = first.getChildren().get(1);
        first.removeChild(moved);
        last.addChild(moved);
        report(firm);
        last.removeChild(last.getFirstChildNamed("employee"));
        first.removeChild(moved);
        report(firm);
    }

    private static void report(Element firm) {
        for (Element department : firm.getChildrenNamed("department")) {
            StringBuilder line = new StringBuilder(department.getAttribute("id", "?"));
            for (Element employee : department.getChildrenNamed("employee")) {
                line.append(' ').append(employee.getAttribute("id", "?"));
            }
            System.out.println(line);
        }
    }
}
