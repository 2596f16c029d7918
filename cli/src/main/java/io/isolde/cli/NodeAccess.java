// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.study.live.NodeSessions;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The options that say which node to ask, and as whom. */
final class NodeAccess {
  private static final int CQL_PORT = 9042;
  private static final Pattern NODE = Pattern.compile("(?<host>[^:\\s]+)(:(?<port>\\d{1,5}))?");

  @Option(
      names = "--at",
      paramLabel = "NODE",
      description = "Whom to ask: address or address:port. Default: the development node.")
  private String at;

  @Mixin private Login login;

  @Spec(Target.MIXEE)
  private CommandSpec command;

  CqlConnection open(Home home) {
    return CqlConnection.open(contactPoint(home), credentials());
  }

  /** Connects to all nodes of the cluster. */
  CqlSession openToAll(Home home) {
    return NodeSessions.open(
        List.of(contactPoint(home)), login.credentials(NodeSessions.Credentials::new));
  }

  /** Who asks, if the node wants to know. */
  Optional<CqlConnection.Credentials> credentials() {
    return login.credentials(CqlConnection.Credentials::new);
  }

  /**
   * Whether the options say which node to ask, and not what was said before.
   *
   * @param before its name; null if nothing was. If it is that of the development node, this must
   *     be running
   */
  boolean isToBeAsked(Home home, String before) {
    return at != null || before == null || before.equals(nameOfDevelopmentNode(home));
  }

  private static String nameOfDevelopmentNode(Home home) {
    Path folder = home.folderOf(Home.DEVELOPMENT);
    return LocalCluster.exists(folder)
        ? CqlConnection.name(LocalCluster.open(folder).node(1).contactPoint())
        : "";
  }

  InetSocketAddress contactPoint(Home home) {
    return at == null ? developmentNode(home) : parse(command, at);
  }

  static InetSocketAddress parse(CommandSpec command, String address) {
    Matcher node = NODE.matcher(address);
    if (!node.matches()) {
      throw new ParameterException(
          command.commandLine(),
          "\"%s\" is not a node: say address or address:port.".formatted(address));
    }
    int port = node.group("port") == null ? CQL_PORT : Integer.parseInt(node.group("port"));
    return new InetSocketAddress(node.group("host"), Math.min(port, 65_535));
  }

  private static InetSocketAddress developmentNode(Home home) {
    Path folder = home.folderOf(Home.DEVELOPMENT);
    if (!LocalCluster.exists(folder)) {
      throw new CommandFailedException(
          "There is no development node. Make one (`isolde start`), or name another node (--at).");
    }
    LocalNode node = LocalCluster.open(folder).node(1);
    if (!node.isReady()) {
      throw new CommandFailedException(
          "The development node is not running. Start it (`isolde start`), or name another node"
              + " (--at).");
    }
    return node.contactPoint();
  }
}
