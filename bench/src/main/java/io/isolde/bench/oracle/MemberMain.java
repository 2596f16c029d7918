// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import io.isolde.bench.nodes.ChildControl;
import io.isolde.oracle.group.OracleFiles;
import io.isolde.oracle.group.OracleGroupConfig;
import io.isolde.oracle.group.OracleNode;
import io.isolde.oracle.group.OracleStatus;
import io.isolde.raft.Peer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/** A process that is one member of an oracle's group, and nothing else. */
final class MemberMain {
  /** A question: the last entry of the log that it has applied; -1 while it is no member. */
  static final String APPLIED = "applied-index";

  /** A question: the term that it is in; -1 while it is no member. */
  static final String TERM = "term";

  /** A question: 1 if it leads and serves, else 0. */
  static final String SERVING = "is-serving";

  /** A question: the processor time of the thread that has used most, in nanoseconds. */
  static final String BUSIEST_THREAD = "busiest-thread-nanos";

  private MemberMain() {}

  /**
   * Arguments: its directory, whether to sync, its id, and the initial members as id@address:port.
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    AtomicReference<OracleNode> node = new AtomicReference<>();
    ChildControl.start(
        Map.of(
            APPLIED,
            unused -> status(node).map(OracleStatus::appliedIndex).orElse(-1L),
            TERM,
            unused -> status(node).map(OracleStatus::term).orElse(-1L),
            SERVING,
            unused -> node.get() != null && node.get().isServing() ? 1 : 0,
            BUSIEST_THREAD,
            unused -> busiestThreadNanos()));
    List<Peer> initialMembers = Arrays.stream(arguments).skip(3).map(MemberMain::peer).toList();
    Peer self =
        initialMembers.stream()
            .filter(peer -> peer.id().equals(arguments[2]))
            .findFirst()
            .orElseThrow();
    OracleGroupConfig config = OracleGroupConfig.defaults();
    node.set(
        OracleNode.start(
            config.withRaft(config.raft().withFsync(Boolean.parseBoolean(arguments[1]))),
            "bench",
            self,
            initialMembers,
            OracleFiles.at(Path.of(arguments[0])),
            UnaryOperator.identity(),
            Clock.systemUTC()));
    Thread.sleep(Long.MAX_VALUE);
  }

  private static Optional<OracleStatus> status(AtomicReference<OracleNode> node) {
    return Optional.ofNullable(node.get()).flatMap(OracleNode::status);
  }

  private static long busiestThreadNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return Arrays.stream(threads.getAllThreadIds()).map(threads::getThreadCpuTime).max().orElse(0);
  }

  static String argument(Peer peer) {
    return peer.id() + "@" + peer.address().getHostString() + ":" + peer.address().getPort();
  }

  static Peer peer(String argument) {
    int at = argument.indexOf('@');
    int colon = argument.lastIndexOf(':');
    return new Peer(
        argument.substring(0, at),
        new InetSocketAddress(
            argument.substring(at + 1, colon), Integer.parseInt(argument.substring(colon + 1))));
  }
}
