// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import io.isolde.cluster.ClusterException.Reason;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * The operating system's process of a node, found again by its pid file.
 *
 * <p>A pid file can outlive its process, and another process can get the same pid. Hence every node
 * carries its folder as the first word of its command line, and nothing is ever signalled that
 * doesn't.
 */
record NodeProcess(NodeFolder folder) {

  private static final Duration KILL_BOUND = Duration.ofSeconds(10);
  private static final Duration EXEC_BOUND = Duration.ofSeconds(2);
  private static final Path SETSID = Path.of("/usr/bin/setsid");

  /** Returns the running process of this node. */
  Optional<ProcessHandle> find() {
    if (!Files.exists(folder.pidFile())) {
      return Optional.empty();
    }
    String pid = NodeFolder.readText(folder.pidFile()).strip();
    if (pid.isEmpty()) {
      return Optional.empty();
    }
    return ProcessHandle.of(Long.parseLong(pid)).filter(this::isOurs);
  }

  private boolean isOurs(ProcessHandle process) {
    // While one program takes the place of another (setsid, ip, java), there is none for a moment;
    // and none while a process dies, which still has its ports then.
    var unused =
        Waiting.until(
            EXEC_BOUND, () -> hasEnded(process) || process.info().commandLine().isPresent());
    return process.isAlive()
        && process.info().commandLine().filter(line -> line.contains(marker() + " ")).isPresent();
  }

  private String marker() {
    return "-Disolde.node=" + folder.path();
  }

  /** Starts the process, in a session of its own so that Ctrl-C in a terminal doesn't reach it. */
  void spawn(Path java, NodeSpec spec) {
    List<String> command = new ArrayList<>();
    if (!spec.networkNamespace().isEmpty()) {
      command.addAll(List.of("ip", "netns", "exec", spec.networkNamespace()));
    }
    command.add(java.toString());
    command.add(marker());
    command.add("@" + folder.jvmArguments());
    ProcessBuilder builder =
        new ProcessBuilder(inOwnSession(command))
            .directory(folder.path().toFile())
            .redirectErrorStream(true)
            .redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(folder.output().toFile());
    builder.environment().putAll(spec.environment());
    Process process = started(builder);
    if (spec.isEphemeral()) {
      tieToThisProcess(process);
    }
    // Last: whoever sees that the node is there may rely on its being tied.
    NodeFolder.writeText(folder.pidFile(), process.pid() + "\n");
  }

  /**
   * Starts a shell that kills the node as soon as its input ends, which happens however this
   * process ends. The shell goes when the node does, lest it kill a later owner of the pid.
   */
  private static void tieToThisProcess(Process node) {
    String script = "read nothing; kill -9 " + node.pid();
    ProcessBuilder builder =
        new ProcessBuilder(inOwnSession(List.of("sh", "-c", script)))
            .redirectErrorStream(true)
            .redirectOutput(Redirect.DISCARD);
    try {
      Process guard = started(builder);
      var unused = node.onExit().thenRun(guard::destroyForcibly);
    } catch (ClusterException untied) {
      node.destroyForcibly();
      throw untied;
    }
  }

  /** Ends the process: asks it first if a bound above zero is given, kills it afterwards. */
  void end(Duration bound) {
    Optional<ProcessHandle> running = find();
    if (running.isEmpty()) {
      return;
    }
    ProcessHandle process = running.get();
    if (!bound.isZero()) {
      process.destroy();
      if (isPaused(process)) {
        signal(process, "CONT"); // and it may end at once
      }
    }
    if (bound.isZero() || !Waiting.until(bound, () -> hasEnded(process))) {
      process.destroyForcibly();
    }
    if (!Waiting.until(KILL_BOUND, () -> hasEnded(process))) {
      throw new ClusterException(
          Reason.TIMEOUT,
          "The process %d of %s is still there %d s after it was killed."
              .formatted(process.pid(), folder.path(), KILL_BOUND.toSeconds()));
    }
  }

  /**
   * Freezes a process; a signal is on its way for a while, and reaches one thread after another.
   */
  static void pause(ProcessHandle process) {
    signal(process, "STOP");
    awaitState(process, "frozen", () -> states(process).allMatch(NodeProcess::isFrozen));
  }

  /** Lets a frozen process go on. */
  static void resume(ProcessHandle process) {
    signal(process, "CONT");
    awaitState(process, "going on", () -> !isPaused(process));
  }

  private static void awaitState(ProcessHandle process, String state, BooleanSupplier isSo) {
    if (!Waiting.until(KILL_BOUND, isSo)) {
      throw new ClusterException(
          Reason.TIMEOUT,
          "The process %d is not %s %d s after the signal."
              .formatted(process.pid(), state, KILL_BOUND.toSeconds()));
    }
  }

  /** Sends a signal that Java has no method for. */
  private static void signal(ProcessHandle process, String name) {
    Process kill =
        started(
            new ProcessBuilder("sh", "-c", "kill -%s %d".formatted(name, process.pid()))
                .redirectErrorStream(true)
                .redirectOutput(Redirect.DISCARD));
    if (!Waiting.until(KILL_BOUND, () -> !kill.isAlive()) || kill.exitValue() != 0) {
      throw new ClusterException(
          Reason.IO, "The signal %s can't be sent to process %d.".formatted(name, process.pid()));
    }
  }

  /**
   * A process that dies loses its command line first and its ports later. The last it can have is
   * one thread in the state of a zombie, if nobody waits for it.
   */
  private static boolean hasEnded(ProcessHandle process) {
    return !process.isAlive() || (state(process) == 'Z' && threads(process).size() <= 1);
  }

  /** Returns whether the process is stopped by a signal; only Linux tells. */
  static boolean isPaused(ProcessHandle process) {
    return state(process) == 'T';
  }

  /** Also one that has ended, or of which nothing is known. */
  private static boolean isFrozen(char state) {
    return state == 'T' || state == 'Z' || state == '?';
  }

  private static char state(ProcessHandle process) {
    return state(ofKernel(process, "stat"));
  }

  /** Returns the letter after the name in parentheses, or a question mark if there is none. */
  private static char state(Path stat) {
    try {
      String line = Files.readString(stat);
      return line.charAt(line.lastIndexOf(')') + 2);
    } catch (IOException endedOrNotLinux) {
      return '?';
    }
  }

  /** Of all threads; none if the process has ended, or nothing is known of it. */
  private static Stream<Character> states(ProcessHandle process) {
    return threads(process).stream().map(thread -> state(thread.resolve("stat")));
  }

  private static List<Path> threads(ProcessHandle process) {
    try (Stream<Path> threads = Files.list(ofKernel(process, "task"))) {
      return threads.toList();
    } catch (IOException endedOrNotLinux) {
      return List.of();
    }
  }

  private static Path ofKernel(ProcessHandle process, String file) {
    return Path.of("/proc", Long.toString(process.pid()), file);
  }

  private static List<String> inOwnSession(List<String> command) {
    if (!Files.isExecutable(SETSID)) {
      return command;
    }
    List<String> wrapped = new ArrayList<>(command);
    wrapped.add(0, SETSID.toString());
    return wrapped;
  }

  private static Process started(ProcessBuilder builder) {
    try {
      return builder.start();
    } catch (IOException e) {
      throw new ClusterException(
          Reason.IO, "The program %s can't be started.".formatted(builder.command().get(0)), e);
    }
  }
}
