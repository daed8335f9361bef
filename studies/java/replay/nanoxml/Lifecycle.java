import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.IXMLParser;
import net.n3.nanoxml.StdXMLBuilder;
import net.n3.nanoxml.StdXMLParser;
import net.n3.nanoxml.StdXMLReader;
import net.n3.nanoxml.XMLElement;
import net.n3.nanoxml.XMLEntityResolver;
import net.n3.nanoxml.XMLWriter;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.StringWriter;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Objects of the library among other things: threads, collectors, collections, reflection. */
final class Lifecycle {
    static void collected() throws Exception {
        WeakReference<IXMLElement> root = new WeakReference<>(See.parsed("<a><b/><c>t</c></a>"));
        for (int i = 0; i < 20 && root.get() != null; i++) {
            System.gc();
            System.runFinalization();
        }
        See.that("collected", root.get() == null);
    }

    static void collectedInBetween() throws Exception {
        for (int i = 0; i < 3; i++) {
            See.tree("<a n='" + i + "'><b/></a>");
            System.gc();
            System.runFinalization();
        }
    }

    static void serialised() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(See.parsed("<a x='1'><b>t</b></a>"));
        } catch (java.io.NotSerializableException e) {
            See.that("not serialisable", e.getMessage());
            return;
        }
        try (ObjectInputStream in =
                new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            See.tree((IXMLElement) in.readObject());
        }
    }

    static void inMap() throws Exception {
        Map<Object, String> map = new IdentityHashMap<>();
        IXMLElement a = See.parsed("<a><b/><c/></a>");
        map.put(a, "root");
        map.put(a.getChildAtIndex(0), "first");
        See.that("root", map.get(a));
        See.that("first", map.get(a.getFirstChildNamed("b")));
        See.that("second", map.get(a.getFirstChildNamed("c")));
    }

    static void inSet() {
        Set<Object> set = new HashSet<>();
        XMLElement a = new XMLElement("a");
        See.that("new", set.add(a));
        See.that("again", set.add(a));
        See.that("contains", set.contains(a));
        See.that("size", set.size());
    }

    static void inList() throws Exception {
        List<IXMLElement> list = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            list.add(See.parsed("<e n='" + i % 2 + "'/>"));
        }
        See.that("first like the third", list.indexOf(list.get(2)));
        See.that("removed", list.remove(list.get(3)));
        See.that("size", list.size());
    }

    static void asKeysByName() throws Exception {
        Map<String, Integer> counts = new HashMap<>();
        for (Object child : See.parsed("<l><a/><b/><a/><c/><a/></l>").getChildren()) {
            counts.merge(((IXMLElement) child).getName(), 1, Integer::sum);
        }
        See.that("counts", new java.util.TreeMap<>(counts));
    }

    static void inStream() throws Exception {
        Object[] children = See.parsed("<l><a n='1'/><b n='2'/><c n='3'/></l>").getChildren().toArray();
        int sum = java.util.Arrays.stream(children)
                .mapToInt(child -> ((IXMLElement) child).getAttribute("n", 0))
                .sum();
        See.that("sum", sum);
    }

    static void inAnotherThread() throws Exception {
        Thread thread = new Thread(() -> {
            try {
                See.tree("<a>in a thread</a>");
            } catch (Exception e) {
                See.thrown(e);
            }
        });
        thread.start();
        thread.join();
    }

    static void inTwoThreads() throws Exception {
        List<Thread> threads = new ArrayList<>();
        String[] found = new String[2];
        for (int i = 0; i < 2; i++) {
            int number = i;
            threads.add(new Thread(() -> {
                try {
                    found[number] = See.parsed("<a><b n='" + number + "'/></a>")
                            .getChildAtIndex(0).getAttribute("n", "");
                } catch (Exception e) {
                    found[number] = e.toString();
                }
            }));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        See.that("found", found[0] + found[1]);
    }

    static void inPool() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 1; i < 5; i++) {
            String document = "<l>" + See.repeated("<i/>", i) + "</l>";
            results.add(pool.submit(() -> See.parsed(document).getChildrenCount()));
        }
        for (Future<Integer> result : results) {
            See.that("children", result.get());
        }
        pool.shutdown();
    }

    static void sharedBetweenThreads() throws Exception {
        XMLElement root = new XMLElement("root");
        for (int i = 0; i < 3; i++) {
            String name = "child" + i;
            Thread thread = new Thread(() -> root.addChild(new XMLElement(name)));
            thread.start();
            thread.join();
        }
        See.tree(root);
    }

    static void byReflection() throws Exception {
        Class<?> type = Class.forName("net.n3.nanoxml.XMLElement");
        Object element = type.getConstructor(String.class).newInstance("reflected");
        Method set = type.getMethod("setAttribute", String.class, String.class);
        set.invoke(element, "k", "v");
        See.that("name", type.getMethod("getName").invoke(element));
        See.tree((IXMLElement) element);
    }

    static void fieldsByReflection() throws Exception {
        XMLElement element = new XMLElement("before");
        for (Field field : XMLElement.class.getDeclaredFields()) {
            if (field.getName().equals("name") && field.getType() == String.class) {
                field.setAccessible(true);
                See.that("was", field.get(element));
                field.set(element, "after");
            }
        }
        See.that("name", element.getName());
    }

    static void methodsByReflection() {
        int methods = 0;
        for (Method method : XMLElement.class.getDeclaredMethods()) {
            methods += method.getName().startsWith("get") ? 1 : 0;
        }
        See.that("getters", methods);
    }

    static void assembledByHand() throws Exception {
        StdXMLParser parser = new StdXMLParser();
        parser.setReader(StdXMLReader.stringReader("<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>"));
        parser.setBuilder(new StdXMLBuilder());
        parser.setValidator(new net.n3.nanoxml.NonValidator());
        parser.setResolver(new XMLEntityResolver());
        See.tree((IXMLElement) parser.parse());
    }

    static void withoutParts() throws Exception {
        StdXMLParser parser = new StdXMLParser();
        try {
            parser.parse();
        } catch (Exception e) {
            See.that("thrown", e.getClass().getName());
        }
    }

    static void documentInDocument() throws Exception {
        IXMLElement outer = See.parsed("<o><![CDATA[<i x='1'>in</i>]]></o>");
        See.tree(See.parsed(outer.getContent()));
    }

    static void parserWithinBuilder() throws Exception {
        IXMLParser parser = See.parser("<a><b/></a>");
        parser.setBuilder(new StdXMLBuilder() {
            @Override
            public void endElement(String name, String prefix, String uri) {
                try {
                    See.tree("<inner of='" + name + "'/>");
                } catch (Exception e) {
                    See.thrown(e);
                }
                super.endElement(name, prefix, uri);
            }
        });
        See.tree((IXMLElement) parser.parse());
    }

    static void configuration() throws Exception {
        IXMLElement file = See.parsed("<config><server host='h' port='80'/>"
                + "<users><user>ann</user><user>bob</user></users></config>");
        IXMLElement server = file.getFirstChildNamed("server");
        See.that("server", server.getAttribute("host", "") + ":" + server.getAttribute("port", 0));
        for (Object user : file.getFirstChildNamed("users").getChildrenNamed("user")) {
            See.that("user", ((IXMLElement) user).getContent());
        }
        server.setAttribute("port", "8080");
        StringWriter out = new StringWriter();
        new XMLWriter(out).write(file, true);
        System.out.println(out);
    }
}
