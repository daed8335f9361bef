package contracts;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

class Audit implements InvocationHandler {
    private final Object target;
    private final List<String> log = new ArrayList<>();

    Audit(Object target) {
        this.target = target;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        log.add(method.getName() + Arrays.toString(arguments));
        return method.invoke(target, arguments);
    }

    <T> T as(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, this));
    }

    int size() {
        return log.size();
    }
}
