package bench;

import freemarker.cache.StringTemplateLoader;
import freemarker.template.Configuration;
import freemarker.template.TemplateException;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/** Transforming data to text: FreeMarker renders orders as pages. */
final class Template implements Workload {
    private static final String PAGE =
            "<#macro money amount>${amount?string(\"0.00\")} ${currency}</#macro>\n"
                    + "<#function total lines><#local sum = 0><#list lines as line>"
                    + "<#local sum += line.price * line.count></#list><#return sum></#function>\n"
                    + "<h1>${title?html?cap_first}</h1>\n"
                    + "<#list orders?sort_by(\"customer\") as order>\n"
                    + "<#if order.lines?size gt 0 && !order.cancelled>\n"
                    + "<h2>${order?index + 1}. ${order.customer?upper_case} (${order.number?c})</h2>\n"
                    + "<#list order.lines as line><#switch line.kind>"
                    + "<#case 0>standard<#break><#case 1>express<#break><#default>other</#switch> "
                    + "${line.name?replace(\"a\", \"A\")?html}: ${line.count} x <@money line.price/>"
                    + "<#sep>, </#list>\nTotal: <@money total(order.lines)/>\n"
                    + "<#else>(nothing for ${order.customer!\"nobody\"?trim})\n</#if></#list>\n";

    private final Configuration configuration = new Configuration(Configuration.VERSION_2_3_32);
    private final List<Map<String, Object>> models = new ArrayList<>();

    Template() {
        StringTemplateLoader loader = new StringTemplateLoader();
        loader.putTemplate("page", PAGE);
        configuration.setTemplateLoader(loader);
        configuration.setLocale(Locale.US);
        Random random = new Random(3);
        for (int i = 0; i < 8; i++) {
            models.add(model(random, 10 + 2 * i));
        }
    }

    @Override
    public long iteration(int number) throws IOException, TemplateException {
        StringWriter out = new StringWriter();
        configuration.getTemplate("page").process(models.get(number % models.size()), out);
        return out.getBuffer().length();
    }

    private static Map<String, Object> model(Random random, int orders) {
        Map<String, Object> model = new HashMap<>();
        model.put("title", "orders of <today> & tomorrow");
        model.put("currency", "EUR");
        List<Order> list = new ArrayList<>();
        for (int i = 0; i < orders; i++) {
            Order order = new Order(1000 + i, "customer " + random.nextInt(500), i % 7 == 3);
            for (int lines = random.nextInt(9); lines > 0; lines--) {
                order.lines.add(
                        new Line("a bar & a lamp " + random.nextInt(90), random.nextInt(9999) / 100.0, lines % 3));
            }
            list.add(order);
        }
        model.put("orders", list);
        return model;
    }

    /** Public, as FreeMarker asks of what it reads by reflection. */
    public static final class Order {
        private final int number;
        private final String customer;
        private final boolean cancelled;
        private final List<Line> lines = new ArrayList<>();

        Order(int number, String customer, boolean cancelled) {
            this.number = number;
            this.customer = customer;
            this.cancelled = cancelled;
        }

        public int getNumber() {
            return number;
        }

        public String getCustomer() {
            return customer;
        }

        public boolean isCancelled() {
            return cancelled;
        }

        public List<Line> getLines() {
            return lines;
        }
    }

    public static final class Line {
        private final String name;
        private final double price;
        private final int kind;

        Line(String name, double price, int kind) {
            this.name = name;
            this.price = price;
            this.kind = kind;
        }

        public String getName() {
            return name;
        }

        public double getPrice() {
            return price;
        }

        public int getKind() {
            return kind;
        }

        public int getCount() {
            return kind + 1;
        }
    }
}
