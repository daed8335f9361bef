package peer;

import org.aspectj.lang.JoinPoint;
import org.aspectj.lang.annotation.AfterReturning;
import org.aspectj.lang.annotation.AfterThrowing;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.aspectj.lang.annotation.Pointcut;

/**
 * A recorder of calls as one would write it with AspectJ: the same job as Culprit's, as far as
 * aspects can do it. Advice runs at the execution of every observed method and constructor and at
 * every call from observed code to other code of the program; what crosses the border is logged
 * with its signature, its receiver and arguments, and its result. Calls to the JDK are left out.
 *
 * <p>{@code aop.xml} makes it concrete and says what is observed.
 */
@Aspect
public abstract class Recorder {
    /** Code of the observed set. */
    @Pointcut
    public abstract void observed();

    /** Calls to what is neither observed nor the JDK's. */
    @Pointcut
    public abstract void external();

    @Pointcut("observed() && (execution(* *(..)) || execution(new(..)))")
    public void entry() {}

    @Pointcut("observed() && external()")
    public void exit() {}

    @Before("entry()")
    public void enter(JoinPoint point) {
        Log log = Log.ofThread();
        if (log.enters(true)) {
            log.call(Log.INCOMING_CALL, point.getStaticPart(), point.getThis(), point.getArgs());
        }
    }

    @AfterReturning(pointcut = "entry() && execution(* *(..))", returning = "result")
    public void leave(JoinPoint.StaticPart point, Object result) {
        Log log = Log.ofThread();
        if (log.leaves()) {
            log.end(Log.INCOMING_RETURN, point, result);
        }
    }

    /** Apart, since advice that asks for a result passes over constructors. */
    @AfterReturning("entry() && execution(new(..))")
    public void leaveConstructor(JoinPoint point) {
        Log log = Log.ofThread();
        if (log.leaves()) {
            log.end(Log.INCOMING_RETURN, point.getStaticPart(), point.getThis());
        }
    }

    @AfterThrowing(pointcut = "entry()", throwing = "thrown")
    public void leaveThrowing(JoinPoint.StaticPart point, Throwable thrown) {
        Log log = Log.ofThread();
        if (log.leaves()) {
            log.end(Log.INCOMING_THROW, point, thrown);
        }
    }

    @Before("exit()")
    public void goOut(JoinPoint point) {
        Log log = Log.ofThread();
        if (log.enters(false)) {
            log.call(Log.OUTGOING_CALL, point.getStaticPart(), point.getTarget(), point.getArgs());
        }
    }

    @AfterReturning(pointcut = "exit()", returning = "result")
    public void comeBack(JoinPoint.StaticPart point, Object result) {
        Log log = Log.ofThread();
        if (log.leaves()) {
            log.end(Log.OUTGOING_RETURN, point, result);
        }
    }

    @AfterThrowing(pointcut = "exit()", throwing = "thrown")
    public void comeBackThrowing(JoinPoint.StaticPart point, Throwable thrown) {
        Log log = Log.ofThread();
        if (log.leaves()) {
            log.end(Log.OUTGOING_THROW, point, thrown);
        }
    }
}
