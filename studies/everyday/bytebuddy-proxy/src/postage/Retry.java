package postage;

import java.util.concurrent.Callable;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.implementation.MethodDelegation;
import net.bytebuddy.implementation.bind.annotation.RuntimeType;
import net.bytebuddy.implementation.bind.annotation.SuperCall;
import net.bytebuddy.matcher.ElementMatchers;

public class Retry {
    @RuntimeType
    public static Object call(@SuperCall Callable<?> original) throws Exception {
        try {
            return original.call();
        } catch (IllegalStateException busy) {
            return original.call();
        }
    }

    public static <T> T around(Class<T> type) throws ReflectiveOperationException {
        return new ByteBuddy()
                .subclass(type)
                .method(ElementMatchers.isDeclaredBy(type))
                .intercept(MethodDelegation.to(Retry.class))
                .make()
                .load(type.getClassLoader())
                .getLoaded()
                .getDeclaredConstructor()
                .newInstance();
    }
}
