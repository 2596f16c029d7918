// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.oracle.group.OracleGroupConfig;
import io.isolde.oracle.group.OracleNode;
import io.isolde.raft.Peer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/** A process that is one member of an oracle's group, and nothing else. */
final class MemberMain {

  private MemberMain() {}

  /** Arguments: its directory, whether to sync, its id, and the founders as id@address:port. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    ChildControl.start();
    List<Peer> founders = Arrays.stream(arguments).skip(3).map(MemberMain::peer).toList();
    Peer self =
        founders.stream().filter(peer -> peer.id().equals(arguments[2])).findFirst().orElseThrow();
    OracleGroupConfig config = OracleGroupConfig.defaults();
    var unused =
        OracleNode.start(
            config.withRaft(config.raft().withFsync(Boolean.parseBoolean(arguments[1]))),
            "bench",
            self,
            founders,
            Path.of(arguments[0]),
            UnaryOperator.identity(),
            Clock.systemUTC());
    Thread.sleep(Long.MAX_VALUE);
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
