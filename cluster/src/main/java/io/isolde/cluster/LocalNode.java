// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import io.isolde.cluster.ClusterException.Reason;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;

/**
 * One node of a local cluster: a folder, and at most one process.
 *
 * <p>All state lies in the folder, so any number of objects and processes can speak of the same
 * node. Of those that start it at the same time one does; nobody may stop it meanwhile.
 */
public final class LocalNode {

  /** How long a start may take unless told, generous because test machines are busy. */
  public static final Duration START_BOUND = Duration.ofMinutes(3);

  /** How long an orderly stop may take unless told, before the process is killed. */
  public static final Duration STOP_BOUND = Duration.ofSeconds(30);

  private static final int LOG_TAIL_LINES = 30;

  /** For another command that looks at three ports and starts the process. */
  private static final Duration MAX_SPAWN = Duration.ofSeconds(30);

  private final NodeFolder folder;
  private final NodeProcess process;

  LocalNode(Path path) {
    this.folder = new NodeFolder(path);
    this.process = new NodeProcess(folder);
  }

  /** Returns the name, which is also that of the folder: node1, node2, and so on. */
  public String name() {
    return folder.path().getFileName().toString();
  }

  /** Returns the folder with the data, the configuration and the logs. */
  public Path folder() {
    return folder.path();
  }

  /** Returns how the node is set up. */
  public NodeSpec spec() {
    return NodeSpec.ofEntries(NodeFolder.readProperties(folder.properties()));
  }

  /** Returns where CQL clients connect. */
  public InetSocketAddress contactPoint() {
    NodeSpec spec = spec();
    return new InetSocketAddress(spec.address(), spec.nativePort());
  }

  /** Sets the node up anew; a running node notices at its next start. */
  public void reconfigure(UnaryOperator<NodeSpec> change) {
    folder.write(change.apply(spec()));
  }

  /** Starts the node and waits until it answers CQL. Does nothing if it does already. */
  public void start() {
    start(START_BOUND);
  }

  /** Starts the node and waits for at most the given time until it answers CQL. */
  public void start(Duration bound) {
    if (!isAlive()) {
      Machine.requireMemory(List.of(spec()));
      var unused = spawn(Distribution.ofSystemProperties());
    }
    awaitReady(bound);
  }

  /**
   * Starts the process without waiting.
   *
   * @return false if somebody else has started it meanwhile
   */
  boolean spawn(Distribution distribution) {
    try (StartLock lock =
        StartLock.take(folder.lockFile(), MAX_SPAWN, "the node of " + folder.path())) {
      if (isAlive()) {
        return false;
      }
      spawnLocked(distribution);
      return true;
    }
  }

  private void spawnLocked(Distribution distribution) {
    NodeSpec spec = spec();
    Path java = Distribution.java();
    String arguments = JvmArguments.file(spec, folder, chosen(spec, distribution));
    Machine.requireFreePorts(spec);
    NodeFolder.createFolder(folder.temporary());
    NodeFolder.writeText(folder.jvmArguments(), arguments);
    process.spawn(java, spec);
  }

  /** Waits until a started node answers CQL. */
  void awaitReady(Duration bound) {
    boolean isDecided = Waiting.until(bound, () -> isReady() || !isAlive());
    if (isDecided && isAlive()) {
      writeClassArchive();
      return;
    }
    kill();
    throw isDecided
        ? failedStart(Reason.NODE_DIED, "%s ended while it was starting.".formatted(this))
        : failedStart(
            Reason.TIMEOUT,
            "%s did not answer CQL within %d s and was killed.".formatted(this, bound.toSeconds()));
  }

  private void writeClassArchive() {
    Distribution distribution = chosen(spec(), Distribution.ofSystemProperties());
    ClassArchive archive = JvmArguments.archive(spec(), distribution);
    pid().ifPresent(pid -> archive.writeOnce(pid, NodeFolder.readText(folder.jvmArguments())));
  }

  private static Distribution chosen(NodeSpec spec, Distribution distribution) {
    return new Distribution(
        spec.cassandraFolder().orElse(distribution.cassandra()),
        spec.pluginJar().or(distribution::plugin));
  }

  private ClusterException failedStart(Reason reason, String what) {
    return new ClusterException(
        reason,
        "%s The end of its log in %s:%n%s"
            .formatted(what, folder.logs(), folder.logTail(LOG_TAIL_LINES)));
  }

  /** Stops the node in an orderly way; kills it if that takes too long. */
  public void stop() {
    stop(STOP_BOUND);
  }

  /** Stops the node in an orderly way; kills it if that takes longer than the bound. */
  public void stop(Duration bound) {
    process.end(bound);
  }

  /** Kills the node, as a crash of its machine's process would (kill -9). */
  public void kill() {
    process.end(Duration.ZERO);
  }

  /** Stops and starts the node. */
  public void restart() {
    stop();
    start();
  }

  /** Freezes the process (SIGSTOP): it keeps its sockets and answers nobody when this returns. */
  public void pause() {
    NodeProcess.pause(running());
  }

  /** Lets a frozen process go on (SIGCONT). */
  public void resume() {
    NodeProcess.resume(running());
  }

  /** Returns whether the process is there, which doesn't mean that it answers. */
  public boolean isAlive() {
    return process.find().isPresent();
  }

  /** Returns whether the node answers CQL now. */
  public boolean isReady() {
    NodeSpec spec = spec();
    return isAlive() && CqlProbe.answers(spec.address(), spec.nativePort());
  }

  /** Returns what the node's process is doing. */
  public NodeState state() {
    Optional<ProcessHandle> running = process.find();
    if (running.isEmpty()) {
      return NodeState.STOPPED;
    }
    if (NodeProcess.isPaused(running.get())) {
      return NodeState.PAUSED;
    }
    return isReady() ? NodeState.READY : NodeState.STARTING;
  }

  /** Returns the process id while the node is running. */
  public OptionalLong pid() {
    return process.find().stream().mapToLong(ProcessHandle::pid).findFirst();
  }

  /** Returns the file with Cassandra's log. */
  public Path systemLog() {
    return folder.systemLog();
  }

  /** Returns the last lines of what the node logged and of what its process wrote. */
  public String logTail(int lines) {
    return folder.logTail(lines);
  }

  /** Returns whether the node has been started before and keeps data from then. */
  public boolean hasData() {
    return folder.hasData();
  }

  /**
   * Deletes the data of a node that does not run, as if its disks were lost. All else that it has
   * written goes, too, but its logs and temporary files. Its settings stay.
   */
  public void loseDisks() {
    if (isAlive()) {
      throw new ClusterException(
          Reason.STILL_RUNNING, "%s runs; stop or kill it first.".formatted(this));
    }
    folder.wipe();
  }

  /** Connects to the management interface of the running node. */
  public NodeTool nodeTool() {
    running();
    NodeSpec spec = spec();
    return NodeTool.connect(spec.address(), spec.jmxPort());
  }

  @Override
  public String toString() {
    return Files.exists(folder.properties())
        ? "%s on %s:%d".formatted(name(), spec().address(), spec().nativePort())
        : name();
  }

  void write(NodeSpec spec) {
    folder.write(spec);
  }

  private ProcessHandle running() {
    return process
        .find()
        .orElseThrow(
            () -> new ClusterException(Reason.NOT_RUNNING, "%s is not running.".formatted(this)));
  }
}
