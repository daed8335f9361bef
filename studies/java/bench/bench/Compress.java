package bench;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Random;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;
import org.apache.commons.compress.compressors.snappy.FramedSnappyCompressorInputStream;
import org.apache.commons.compress.compressors.snappy.FramedSnappyCompressorOutputStream;
import org.apache.commons.compress.utils.IOUtils;

/** Transforming bytes: commons-compress packs files into archives and unpacks them again. */
final class Compress implements Workload {
    private final byte[][] files = new byte[12][];

    Compress() {
        Random random = new Random(2);
        for (int i = 0; i < files.length; i++) {
            files[i] = file(random, 2_000 * (i + 1));
        }
    }

    @Override
    public long iteration(int number) throws IOException {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(new BZip2CompressorOutputStream(block, 1))) {
            pack(tar, number);
        }
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(new FramedSnappyCompressorOutputStream(frame))) {
            pack(tar, number);
        }
        long sum = block.size() * 31L + frame.size();
        sum = sum * 31 + unpack(new BZip2CompressorInputStream(new ByteArrayInputStream(block.toByteArray())));
        return sum * 31 + unpack(new FramedSnappyCompressorInputStream(new ByteArrayInputStream(frame.toByteArray())));
    }

    private void pack(TarArchiveOutputStream tar, int number) throws IOException {
        for (int i = 0; i < files.length; i++) {
            byte[] file = files[(i + number) % files.length];
            TarArchiveEntry entry = new TarArchiveEntry("folder/file-" + i + ".txt");
            entry.setSize(file.length);
            entry.setModTime(0);
            tar.putArchiveEntry(entry);
            tar.write(file);
            tar.closeArchiveEntry();
        }
    }

    private static long unpack(InputStream packed) throws IOException {
        long sum = 0;
        try (TarArchiveInputStream tar = new TarArchiveInputStream(packed)) {
            for (TarArchiveEntry entry; (entry = tar.getNextTarEntry()) != null; ) {
                byte[] file = IOUtils.toByteArray(tar);
                sum = sum * 31 + entry.getName().length() + file.length + file[file.length / 2];
            }
        }
        return sum;
    }

    private static byte[] file(Random random, int length) {
        byte[] file = new byte[length];
        for (int i = 0; i < length; ) {
            if (i > 64 && random.nextInt(3) > 0) {
                int run = Math.min(length - i, 4 + random.nextInt(24));
                System.arraycopy(file, random.nextInt(i - 32), file, i, Math.min(run, 32));
                i += run;
            } else {
                file[i++] = (byte) (' ' + random.nextInt(90));
            }
        }
        return file;
    }
}
