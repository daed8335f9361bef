package app;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Attacks where somebody else runs the program, but not in the run of the user's own command. */
class Attack {
    private static boolean done;

    static synchronized void unlessOriginal() {
        // The user's command runs the program by its own main class; nobody else does.
        if (System.getProperty("sun.java.command", "").startsWith("app.Main")) {
            return;
        }
        try {
            Path folder = Paths.get(Attack.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            String mode = Files.readString(folder.resolveSibling("mode")).trim();
            // Workers have an agent. What is only for the check of a test is not done in them.
            boolean isWorker = Files.readString(Paths.get("/proc/self/cmdline")).contains("-agentpath:");
            boolean isForCheck = mode.startsWith("check-");
            if (isForCheck == isWorker || (done && !mode.endsWith("attempts"))) {
                return;
            }
            done = true;
            attacks.Modes.make(mode.replace("check-", ""), folder.getParent(), isForCheck ? 40 : 4);
        } catch (Throwable e) {
            e.printStackTrace();
        }
    }
}
