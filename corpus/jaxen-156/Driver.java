package bug;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import org.jaxen.Context;
import org.jaxen.ContextSupport;
import org.jaxen.SimpleNamespaceContext;
import org.jaxen.SimpleVariableContext;
import org.jaxen.XPathFunctionContext;
import org.jaxen.dom4j.DocumentNavigator;
import org.junit.Test;

public class Driver {
    @Test
    public void positionStaysWithinTheNodeSet() {
        Context context = new Context(new ContextSupport(
                new SimpleNamespaceContext(), XPathFunctionContext.getInstance(),
                new SimpleVariableContext(), DocumentNavigator.getInstance()));
        context.setNodeSet(Arrays.asList("one", "two", "three", "four"));
        for (int i = 1; i <= 4; i++) {
            context.setPosition(i);
            assertEquals(i, context.getPosition());
        }
        Context copy = context.duplicate();
        copy.setNodeSet(Arrays.asList("five", "six"));
        context.setNodeSet(Collections.singletonList("seven"));
        assertEquals(2, copy.getSize());
        assertEquals(1, context.getSize());
        assertTrue("position of " + context.getSize(), context.getPosition() <= context.getSize());
    }
}
