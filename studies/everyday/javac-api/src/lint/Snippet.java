package lint;

import java.net.URI;
import javax.tools.SimpleJavaFileObject;

class Snippet extends SimpleJavaFileObject {
    private final String text;

    Snippet(String name, String text) {
        super(URI.create("snippet:///" + name + ".java"), Kind.SOURCE);
        this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return text;
    }
}
