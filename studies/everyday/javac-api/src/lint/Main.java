package lint;

import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

public class Main {
    private static boolean compile(Findings findings, List<String> options, Snippet... snippets) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        return compiler.getTask(null, null, findings, options, null, List.of(snippets)).call();
    }

    public static void main(String[] args) {
        Findings findings = new Findings();
        Snippet plain = new Snippet("A", "class A { int twice(int n) { return 2 * n; } }");
        Snippet raw = new Snippet("B", "class B { java.util.List all = new java.util.ArrayList(); }");
        Snippet wrong = new Snippet("C", "class C { String name() { return 1; } }");
        compile(findings, List.of("-proc:none", "-Xlint:rawtypes", "-implicit:none"), plain, raw, wrong);
        System.out.println(findings.errors() + " errors, " + findings.of("/B.java"));
        boolean passed = compile(findings, List.of("-proc:none", "-source", "8", "-implicit:none"), wrong, plain);
        System.out.println(passed + ", " + findings.errors() + " errors");
    }
}
