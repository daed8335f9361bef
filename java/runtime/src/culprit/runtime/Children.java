package culprit.runtime;

import java.nio.charset.StandardCharsets;

/**
 * Sees to it that JVMs which the program starts are recorded too. Hooks in the JDK call this where a
 * process is about to start, so that the program's own environment tells nothing of it.
 */
public final class Children {
    private static final String VARIABLE = "JAVA_TOOL_OPTIONS=";

    /** How the agent gets into a process; the agent's {@code children.rs} decides. */
    private static final int ENVIRONMENT = 0, ARGUMENT = 1;

    /** Whether the environment of the process that this thread is starting stays as it is. */
    private static final ThreadLocal<Boolean> TOLD = new ThreadLocal<>();

    private Children() {}

    /**
     * The command of a process. If it is a JDK's {@code java}, the agent is its first argument, and
     * the JVM prints nothing about it.
     */
    public static String[] command(String[] command) {
        try {
            int way = Native.child(String.join("\0", command) + '\0');
            TOLD.set(way != ENVIRONMENT);
            return way == ARGUMENT ? withAgent(command, Native.agent()) : command;
        } catch (Throwable own) {
            return command;
        }
    }

    private static String[] withAgent(String[] command, String agent) {
        String[] longer = new String[command.length + 1];
        longer[0] = command[0];
        longer[1] = agent;
        for (int i = 1; i < command.length; i++) {
            if (agent.equals(command[i])) {
                return command;
            }
            longer[i + 1] = command[i];
        }
        return longer;
    }

    /**
     * The environment of a process, as {@code NAME=VALUE} and NUL for each variable, or null for that
     * of this process. Other programs hand the agent on in it.
     */
    public static byte[] environment(byte[] block, int[] count) {
        try {
            if (Boolean.TRUE.equals(TOLD.get())) {
                return block;
            }
            String all = block == null ? Native.environment() : latin(block);
            String added = withVariable(all, latin(Native.agent().getBytes(StandardCharsets.UTF_8)));
            count[0] = variables(added);
            return added.getBytes(StandardCharsets.ISO_8859_1);
        } catch (Throwable own) {
            return block;
        }
    }

    private static String withVariable(String all, String agent) {
        int at = all.startsWith(VARIABLE) ? 0 : all.indexOf('\0' + VARIABLE) + 1;
        if (at == 0 && !all.startsWith(VARIABLE)) {
            return all + VARIABLE + agent + '\0';
        }
        int end = all.indexOf('\0', at);
        String value = ' ' + all.substring(at + VARIABLE.length(), end) + ' ';
        return value.contains(' ' + agent + ' ') ? all : all.substring(0, end) + ' ' + agent + all.substring(end);
    }

    private static int variables(String all) {
        int count = 0;
        for (int at = all.indexOf('\0'); at >= 0; at = all.indexOf('\0', at + 1)) {
            count++;
        }
        return count;
    }

    /** Bytes as characters, one each. */
    private static String latin(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
