package culprit.runtime;

import java.lang.reflect.Field;

/** Keeps what the weaver adds out of the program's sight. */
public final class Hiding {
    private Hiding() {}

    /** The fields of a class without the added one; called where the JDK filters fields itself. */
    public static Field[] fields(Field[] fields) {
        for (int i = 0; i < fields.length; i++) {
            if (fields[i].getName().equals(ClassInfo.ID_FIELD)) {
                Field[] kept = new Field[fields.length - 1];
                System.arraycopy(fields, 0, kept, 0, i);
                System.arraycopy(fields, i + 1, kept, i, kept.length - i);
                return kept;
            }
        }
        return fields;
    }
}
