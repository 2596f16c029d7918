// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The classes that a node has loaded, as Java keeps them in memory (class data sharing). Later
 * nodes with the same jars map that file instead of parsing thousands of classes. That saves nearly
 * half of the processor time of a start.
 *
 * <p>The first node makes the archive when it is ready, beside the jars of Cassandra. The name
 * holds what the jars are, and Java itself refuses an archive that does not fit. Without one, nodes
 * start as ever: nothing that fails here is an error.
 */
record ClassArchive(Path file) {
  private static final String PREFIX = "isolde-classes-";
  private static final String SUFFIX = ".jsa";
  private static final String RECORDING = "-XX:+RecordDynamicDumpInfo";

  /** With the plugin and without, of this build and of the one before. */
  private static final int MAX_KEPT = 4;

  private static final Duration DUMP_BOUND = Duration.ofSeconds(60);

  /** The agent that measures objects, without which Cassandra does not start. */
  private static final List<String> WITH_AGENT =
      List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:+AllowArchivingWithJavaAgent");

  /** Returns the archive for a class path in this order. */
  static ClassArchive of(Path folder, List<Path> classPath) {
    List<Object> jars = new ArrayList<>(List.of(Runtime.version().toString()));
    for (Path jar : classPath) {
      jars.add(jar);
      jars.add(jar.toFile().length());
      jars.add(jar.toFile().lastModified());
    }
    return new ClassArchive(
        folder.resolve(PREFIX + Integer.toHexString(Objects.hash(jars)) + SUFFIX));
  }

  /**
   * Returns what a node is to be started with: it uses the archive, or notes what to put there.
   *
   * @param isToWrite whether it may write the archive, which must not have classes of others
   */
  List<String> jvmOptions(boolean isToWrite) {
    List<String> options = new ArrayList<>(WITH_AGENT);
    options.add("-Xshare:auto");
    if (Files.exists(file)) {
      options.add("-XX:SharedArchiveFile=" + file);
    } else if (isToWrite) {
      options.add(RECORDING);
    }
    return options;
  }

  /**
   * Has a node that is ready write the archive. It does nothing if there is one, if another node
   * writes it, or if the node was not started to do so.
   *
   * @param jvmArguments what the node was started with
   */
  void writeOnce(long pid, String jvmArguments) {
    Path written = file.resolveSibling(file.getFileName() + ".new");
    if (!jvmArguments.contains(RECORDING) || Files.exists(file) || !isFirst(written)) {
      return;
    }
    try {
      if (dump(pid, written)) {
        removeOthers();
        Files.move(written, file);
      }
    } catch (IOException | InterruptedException e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
    } finally {
      delete(written);
    }
  }

  /** Whoever creates the file writes it; one that was left behind counts for a while only. */
  private static boolean isFirst(Path written) {
    try {
      if (Files.exists(written)
          && Files.getLastModifiedTime(written)
              .toInstant()
              .isBefore(Instant.now().minus(DUMP_BOUND.multipliedBy(2)))) {
        delete(written);
      }
      Files.createFile(written);
      return true;
    } catch (IOException writtenByAnother) {
      return false;
    }
  }

  private static boolean dump(long pid, Path written) throws IOException, InterruptedException {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    if (!Files.isExecutable(jcmd)) {
      return false; // It is no JDK.
    }
    // Java would refuse to write over the file that says who writes.
    Path dumped = written.resolveSibling(written.getFileName() + "." + pid);
    Process process =
        new ProcessBuilder(
                jcmd.toString(), Long.toString(pid), "VM.cds", "dynamic_dump", dumped.toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      if (!process.waitFor(DUMP_BOUND.toSeconds(), TimeUnit.SECONDS)
          || process.exitValue() != 0
          || !Files.exists(dumped)) {
        return false;
      }
      Files.move(dumped, written, StandardCopyOption.REPLACE_EXISTING);
      return true;
    } finally {
      process.destroyForcibly();
      delete(dumped);
    }
  }

  /** Those of earlier builds; a node that has one open keeps it until it ends. */
  private void removeOthers() throws IOException {
    try (Stream<Path> siblings = Files.list(file.getParent())) {
      siblings
          .filter(sibling -> sibling.getFileName().toString().startsWith(PREFIX))
          .filter(sibling -> sibling.toString().endsWith(SUFFIX))
          .sorted(Comparator.comparingLong((Path one) -> one.toFile().lastModified()).reversed())
          .skip(MAX_KEPT - 1)
          .forEach(ClassArchive::delete);
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException itStays) {
      // It does no harm.
    }
  }
}
