import com.github.javaparser.JavaParser;
import java.io.StringReader;
import org.codehaus.commons.compiler.CompileException;
import org.codehaus.janino.Parser;
import org.codehaus.janino.Scanner;

/** Whether Janino takes offence at a type argument of a file that JavaParser reads. */
class Refused {
    static boolean shows(String source) throws Exception {
        JavaParser.parse(source);
        try {
            new Parser(new Scanner(null, new StringReader(source))).parseAbstractCompilationUnit();
            return false;
        } catch (CompileException refused) {
            return refused.getMessage().contains("'int' is not a valid type argument");
        }
    }
}
