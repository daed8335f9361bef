import com.github.javaparser.JavaParser;
import com.thoughtworks.qdox.JavaProjectBuilder;
import com.thoughtworks.qdox.parser.ParseException;
import java.io.StringReader;

/** Whether QDox cannot read a file with a type that JavaParser reads. */
class Unread {
    static boolean shows(String source) {
        if (JavaParser.parse(source).getTypes().isEmpty()) {
            return false;
        }
        try {
            new JavaProjectBuilder().addSource(new StringReader(source));
            return false;
        } catch (ParseException refused) {
            return true;
        }
    }
}
