package lint;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.ArrayList;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticListener;
import javax.tools.JavaFileObject;

public class Findings implements DiagnosticListener<JavaFileObject> {
    private final Map<String, List<String>> byFile = new TreeMap<>();
    private int errors;

    @Override
    public void report(Diagnostic<? extends JavaFileObject> found) {
        if (found.getKind() == Diagnostic.Kind.ERROR) {
            errors++;
        }
        String file = found.getSource().getName();
        byFile.computeIfAbsent(file, it -> new ArrayList<>()).add(found.getLineNumber() + " " + found.getCode());
    }

    public int errors() {
        return errors;
    }

    public List<String> of(String file) {
        return byFile.getOrDefault(file, List.of());
    }
}
