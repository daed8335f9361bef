/* Finds an attempt by its name and makes it: for JNI, and as a plain function for Java's foreign functions. */
#include "attempts.h"
#include <jni.h>
#include <sys/sysmacros.h>

static char place[4096], scratch[4096], settings[8192];

char *in_place(const char *name) {
    char *path = NULL;
    return asprintf(&path, "%s/%s", place, name) < 0 ? NULL : path;
}

char *in_scratch(const char *name) {
    char *path = NULL;
    return asprintf(&path, "%s/%s", scratch, name) < 0 ? NULL : path;
}

const char *setting(const char *key) {
    static char value[4096];
    size_t length = strlen(key);
    for (const char *line = settings; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, key, length) && line[length] == '=') {
            snprintf(value, sizeof value, "%.*s", (int) strcspn(line + length + 1, "\n"), line + length + 1);
            return value;
        }
    }
    return "";
}

long number(const char *name) {
    char text[64] = "";
    int file = open(in_place(name), O_RDONLY);
    if (file >= 0) {
        ssize_t length = read(file, text, sizeof text - 1);
        text[length > 0 ? length : 0] = 0;
        close(file);
    }
    return atol(text);
}

unsigned loop_device(void) {
    return makedev(7, atoi(setting("loop") + strlen("/dev/loop")));
}

long attempt_by_name(const char *name, const char *in, const char *writable, const char *facts) {
    const struct attempt *lists[] = {file_attempts, attribute_attempts, network_attempts, process_attempts,
        program_attempts, system_attempts, mount_attempts, self_attempts,
        burden_attempts};
    snprintf(place, sizeof place, "%s", in);
    snprintf(scratch, sizeof scratch, "%s", writable);
    snprintf(settings, sizeof settings, "%s", facts);
    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++)
        for (const struct attempt *it = lists[list]; it->name; it++)
            if (!strcmp(it->name, name))
                return it->make();
    return -10000;
}

JNIEXPORT jlong JNICALL Java_attacks_Jni_attempt(JNIEnv *env, jclass type, jstring name, jstring in, jstring writable,
                                                 jstring facts) {
    (void) type;
    jstring words[] = {name, in, writable, facts};
    const char *text[4];
    for (int i = 0; i < 4; i++)
        text[i] = (*env)->GetStringUTFChars(env, words[i], NULL);
    jlong result = attempt_by_name(text[0], text[1], text[2], text[3]);
    for (int i = 0; i < 4; i++)
        (*env)->ReleaseStringUTFChars(env, words[i], text[i]);
    return result;
}
