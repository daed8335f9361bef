import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.AffineTransform;
import java.awt.geom.Area;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.StringReader;
import java.io.StringWriter;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.text.MessageFormat;
import java.text.SimpleDateFormat;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.SAXParserFactory;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;
import org.xml.sax.helpers.DefaultHandler;

/** Uses much of the JDK and prints what came of it, one line a part; the same in every JVM of a version. */
public class Work {
    interface Part {
        Object run() throws Throwable;
    }

    public static void main(String[] args) {
        Locale.setDefault(Locale.ROOT);
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        part("collections", Work::collections);
        part("streams", Work::streams);
        part("numbers", Work::numbers);
        part("text", Work::text);
        part("time", Work::time);
        part("threads", Work::threads);
        part("objects", Work::objects);
        part("reflection", Work::reflection);
        part("handles", Work::handles);
        part("exceptions", Work::exceptions);
        part("bytes", Work::bytes);
        part("xml", Work::xml);
        part("stylesheet", Work::stylesheet);
        part("image", Work::image);
    }

    static void part(String name, Part part) {
        Object result;
        try {
            result = part.run();
        } catch (Throwable error) {
            StringWriter trace = new StringWriter();
            error.printStackTrace(new java.io.PrintWriter(trace));
            result = trace;
        }
        System.out.println(name + ": " + result);
    }

    static Object collections() {
        Random random = new Random(1);
        Map<String, List<Integer>> map = new HashMap<>();
        for (int i = 0; i < 5000; i++) {
            map.computeIfAbsent("k" + random.nextInt(500), k -> new ArrayList<>()).add(i);
        }
        map.entrySet().removeIf(e -> e.getValue().size() % 3 == 0);
        TreeMap<String, List<Integer>> sorted = new TreeMap<>(Comparator.reverseOrder());
        sorted.putAll(map);
        List<Integer> all = new ArrayList<>();
        sorted.headMap("k3").values().forEach(all::addAll);
        all.sort(Comparator.comparing((Integer i) -> i % 7).thenComparing(Comparator.reverseOrder()));
        int[] array = random.ints(3000).toArray();
        Arrays.sort(array);
        return sorted.size() + " " + all.size() + " " + all.hashCode() + " " + Arrays.hashCode(array) + " "
                + map.hashCode();
    }

    static Object streams() {
        return IntStream.range(0, 2000).parallel().mapToObj(i -> "s" + i * 31 % 101)
                .collect(Collectors.groupingBy(s -> s.length(), TreeMap::new,
                        Collectors.mapping(s -> s.charAt(s.length() - 1), Collectors.toCollection(java.util.TreeSet::new))));
    }

    static Object numbers() {
        BigInteger factorial = BigInteger.ONE;
        for (int i = 2; i < 200; i++) {
            factorial = factorial.multiply(BigInteger.valueOf(i));
        }
        BigInteger power = BigInteger.valueOf(3).modPow(factorial, BigInteger.ONE.shiftLeft(521).subtract(BigInteger.ONE));
        BigDecimal root = new BigDecimal(2).sqrt(new MathContext(60));
        double sum = 0;
        for (int i = 1; i < 10000; i++) {
            sum += Math.sin(i) / i + StrictMath.cbrt(i) + Math.fma(i, 0.5, 0.25);
        }
        return power.bitLength() + " " + power.hashCode() + " " + root + " " + sum + " " + Float.parseFloat("1.17e-38");
    }

    static Object text() {
        String text = IntStream.range(0, 300).mapToObj(i -> "name" + i + "=" + (i * 7919 % 1000)).collect(Collectors.joining(";"));
        String swapped = Pattern.compile("(?<k>name\\d+)=(?<v>\\d{2,3})(?=;|$)").matcher(text).replaceAll("${v}:${k}");
        return swapped.hashCode() + String.format(" %08.3f|%-6s|%+,d|%x", Math.PI, "ab", 1234567, 48879)
                + MessageFormat.format(" {0,number,#.##} {1}", 2.71828, "x") + " "
                + "gr\u00fc\u00dfe \ud83d\ude00".toUpperCase(Locale.ROOT).getBytes(StandardCharsets.UTF_8).length;
    }

    static Object time() throws Exception {
        LocalDate date = LocalDate.of(2020, 2, 29).plusYears(1).plusDays(400);
        return date.format(DateTimeFormatter.ISO_WEEK_DATE) + " " + Duration.ofSeconds(98765) + " "
                + new SimpleDateFormat("yyyy-MM-dd HH:mm:ss.SSS Z").format(new Date(1234567890123L));
    }

    static Object threads() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        ConcurrentHashMap<Integer, Integer> counts = new ConcurrentHashMap<>();
        List<Future<?>> futures = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            int seed = t;
            futures.add(pool.submit(() -> new Random(seed).ints(2000, 0, 50).forEach(i -> counts.merge(i, 1, Integer::sum))));
        }
        for (Future<?> future : futures) {
            future.get();
        }
        int chained = CompletableFuture.supplyAsync(() -> 20, pool).thenCombine(CompletableFuture.supplyAsync(() -> 22, pool), Integer::sum)
                .thenApply(i -> i * 2).exceptionally(e -> -1).get();
        pool.shutdown();
        Object lock = new Object();
        int[] turn = new int[1];
        Thread thread = new Thread(() -> {
            synchronized (lock) {
                turn[0]++;
                lock.notifyAll();
            }
        });
        synchronized (lock) {
            thread.start();
            while (turn[0] == 0) {
                lock.wait();
            }
        }
        thread.join();
        return counts.hashCode() + " " + chained + " " + turn[0];
    }

    static class Node implements Serializable {
        private static final long serialVersionUID = 1;
        final String name;
        transient int skipped = 5;
        Node next;
        Map<String, Object> more = new java.util.LinkedHashMap<>();

        Node(String name, Node next) {
            this.name = name;
            this.next = next;
        }
    }

    static Object objects() throws Exception {
        Node node = new Node("b", new Node("a", null));
        node.next.next = node;
        node.more.put("date", new Date(0));
        node.more.put("list", new ArrayList<>(List.of(1, 2L, 3.0, "vier")));
        node.more.put("big", BigInteger.TEN.pow(30));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(node);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            Node again = (Node) in.readObject();
            return bytes.size() + " " + again.next.name + (again.next.next == again) + again.skipped + again.more;
        }
    }

    static Object reflection() throws Exception {
        Node node = Node.class.getDeclaredConstructor(String.class, Node.class).newInstance("made", null);
        Field name = Node.class.getDeclaredField("name");
        Field skipped = Node.class.getDeclaredField("skipped");
        skipped.setInt(node, 77);
        Object proxy = Proxy.newProxyInstance(Work.class.getClassLoader(), new Class<?>[] {Comparable.class}, (p, m, a) -> m.getName().length());
        @SuppressWarnings("unchecked")
        int compared = ((Comparable<Object>) proxy).compareTo("x");
        String invoked = (String) String.class.getMethod("concat", String.class).invoke("con", "cat");
        return name.get(node) + " " + skipped.get(node) + " " + compared + " " + invoked + " "
                + Arrays.stream(Node.class.getDeclaredFields()).map(Field::getName).sorted().collect(Collectors.joining(","));
    }

    static Object handles() throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodHandle concat = lookup.findVirtual(String.class, "concat", MethodType.methodType(String.class, String.class));
        MethodHandle twice = MethodHandles.filterReturnValue(concat, MethodHandles.insertArguments(concat, 1, "!"));
        MethodHandle length = MethodHandles.filterReturnValue(twice, lookup.findVirtual(String.class, "length", MethodType.methodType(int.class)));
        int total = 0;
        for (int i = 0; i < 300; i++) {
            total += (int) length.invokeExact("a" + i, "b");
        }
        return (String) twice.invokeExact("x", "y") + total;
    }

    static Object exceptions() {
        StringBuilder seen = new StringBuilder();
        for (int i = 0; i < 6; i++) {
            try {
                seen.append(fail(i));
            } catch (ArithmeticException | ClassCastException e) {
                seen.append(e.getClass().getSimpleName()).append(' ');
            } catch (RuntimeException e) {
                seen.append(e.getClass().getName()).append(e.getSuppressed().length).append(' ');
            } catch (StackOverflowError e) {
                seen.append("overflow ");
            } finally {
                seen.append(i);
            }
        }
        return seen;
    }

    static Object fail(int i) {
        switch (i) {
            case 0:
                return 1 / i;
            case 1:
                return (Integer) (Object) "x";
            case 2:
                return new int[2][3][i].length;
            case 3:
                try (AutoCloseable a = () -> { throw new IllegalStateException("close"); }) {
                    throw new IllegalArgumentException("body");
                } catch (RuntimeException e) {
                    throw e;
                } catch (Exception e) {
                    return e;
                }
            case 4:
                return List.of(1).iterator().next() + Integer.parseInt("no");
            default:
                return deep(0);
        }
    }

    static int deep(int n) {
        return deep(n + 1) + 1;
    }

    static Object bytes() throws Exception {
        byte[] data = new byte[50000];
        new Random(5).nextBytes(data);
        Arrays.fill(data, 1000, 30000, (byte) 'x');
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(data);
        }
        byte[] again = new GZIPInputStream(new ByteArrayInputStream(packed.toByteArray())).readAllBytes();
        return Arrays.equals(data, again) + " " + packed.size() + " " + digest(data);
    }

    static String digest(byte[] data) throws Exception {
        return new BigInteger(1, MessageDigest.getInstance("SHA-256").digest(data)).toString(36);
    }

    static Object xml() throws Exception {
        StringBuilder text = new StringBuilder("<!DOCTYPE r [<!ENTITY e 'entity'>]><r xmlns:n='urn:n'>");
        for (int i = 0; i < 200; i++) {
            text.append("<n:item id='").append(i).append("' even='").append(i % 2 == 0).append("'>&e; &#65; <![CDATA[<").append(i).append(">]]></n:item>");
        }
        text.append("</r>");
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setNamespaceAware(true);
        Document document = factory.newDocumentBuilder().parse(new InputSource(new StringReader(text.toString())));
        String path = XPathFactory.newInstance().newXPath()
                .evaluate("concat(count(//*[@even='true'][position() > 3]), ' ', sum(//@id), ' ', string(//*[@id='7']))", document);
        int[] characters = new int[1];
        SAXParserFactory.newInstance().newSAXParser().parse(new InputSource(new StringReader(text.toString())), new DefaultHandler() {
            @Override
            public void characters(char[] ch, int start, int length) {
                characters[0] += length;
            }
        });
        String message = "none";
        try {
            factory.newDocumentBuilder().parse(new InputSource(new StringReader("<a><b></a>")));
        } catch (org.xml.sax.SAXParseException e) {
            message = e.getMessage();
        }
        return path + " " + characters[0] + " " + message;
    }

    static Object stylesheet() throws Exception {
        String sheet = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
                + "<xsl:template match='/'><out><xsl:for-each select='//i'><xsl:sort select='@k' data-type='number' order='descending'/>"
                + "<xsl:if test='@k mod 2 = 1'><v k='{@k}'><xsl:value-of select='format-number(@k * 1.5, \"0.00\")'/></v></xsl:if>"
                + "</xsl:for-each></out></xsl:template></xsl:stylesheet>";
        StringBuilder text = new StringBuilder("<r>");
        for (int i = 0; i < 12; i++) {
            text.append("<i k='").append(i * 5 % 12).append("'/>");
        }
        Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new InputSource(new StringReader(text.append("</r>").toString())));
        StringWriter out = new StringWriter();
        TransformerFactory.newInstance().newTransformer(new StreamSource(new StringReader(sheet)))
                .transform(new DOMSource(document), new StreamResult(out));
        return out;
    }

    static Object image() throws Exception {
        BufferedImage image = new BufferedImage(160, 120, BufferedImage.TYPE_INT_ARGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        Area area = new Area(new Ellipse2D.Double(20, 10, 90, 90));
        area.subtract(new Area(new Rectangle2D.Double(50, 30, 40, 80)));
        graphics.setTransform(AffineTransform.getRotateInstance(0.3, 80, 60));
        graphics.setColor(new Color(200, 40, 90, 180));
        graphics.fill(area);
        graphics.setStroke(new BasicStroke(3.5f, BasicStroke.CAP_ROUND, BasicStroke.JOIN_BEVEL, 1, new float[] {6, 3}, 0));
        graphics.setColor(Color.BLUE);
        graphics.draw(area);
        graphics.dispose();
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        ImageIO.write(image, "png", png);
        BufferedImage again = ImageIO.read(new ByteArrayInputStream(png.toByteArray()));
        return digest(png.toByteArray()) + " " + Arrays.hashCode(again.getRGB(0, 0, 160, 120, null, 0, 160));
    }
}
