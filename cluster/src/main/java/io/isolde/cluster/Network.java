// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A network with a host for each node: network namespaces of Linux, joined by a bridge. What one
 * host sends to another can be made to vanish, by giving it a wrong hardware address.
 *
 * <p>Needs to be root, which {@link #INSIDE} makes of any user where the kernel lets it.
 */
public final class Network {
  /** Runs what follows as root of namespaces of its own, which end with it. */
  public static final List<String> INSIDE =
      List.of(
          "unshare",
          "--map-root-user",
          "--net",
          "--mount",
          "sh",
          "-c",
          "mount -t tmpfs tmpfs /run && ip link set lo up && exec \"$@\"",
          "sh");

  private static final String PREFIX = "10.89.0.";
  private static final String NOWHERE = "02:00:00:00:00:fe";
  private static final long BOUND_SECONDS = 10;

  private Network() {}

  /** Whether this machine can have such a network. */
  public static boolean isPossible() {
    List<String> trial = new ArrayList<>(INSIDE);
    trial.addAll(List.of("sh", "-c", "ip netns add trial && ip link add trial type bridge"));
    return hasSucceeded(trial);
  }

  /** Sets it up, with this process on an address of its own, which reaches all hosts. */
  public static void create(int hosts) {
    run("ip link add isolde type bridge");
    run("ip addr add " + PREFIX + "254/24 dev isolde");
    run("ip link set isolde up");
    for (int host = 1; host <= hosts; host++) {
      addNamespace(host);
      String inside = "ip -n " + namespace(host);
      run(
          "ip link add isolde%d type veth peer name eth0 netns %s"
              .formatted(host, namespace(host)));
      run("ip link set isolde%d master isolde up".formatted(host));
      run(inside + " addr add %s/24 dev eth0".formatted(address(host)));
      run(inside + " link set eth0 up");
    }
  }

  /** Makes the namespace of a host, which can reach nobody yet. */
  public static void addNamespace(int host) {
    run("ip netns add " + namespace(host));
    run("ip -n %s link set lo up".formatted(namespace(host)));
  }

  /**
   * Lets the nodes of a cluster, which must have been created at {@link #address}, be its hosts.
   */
  public static void assign(LocalCluster cluster) {
    for (int host = 1; host <= cluster.nodes().size(); host++) {
      String namespace = namespace(host);
      cluster.node(host).reconfigure(spec -> spec.withNetworkNamespace(namespace));
    }
  }

  /** The namespace of a host. */
  public static String namespace(int host) {
    return "isolde-node" + host;
  }

  /** The address of a host; the first is 1. */
  public static String address(int host) {
    return PREFIX + host;
  }

  /** What the one sends to the other is lost from now on. */
  public static void cut(int from, int to) {
    run(
        "ip -n %s neigh replace %s lladdr %s dev eth0 nud permanent"
            .formatted(namespace(from), address(to), NOWHERE));
  }

  /** Ends {@link #cut}. */
  public static void mend(int from, int to) {
    run("ip -n %s neigh del %s dev eth0".formatted(namespace(from), address(to)));
  }

  /**
   * Runs a command that sets up something of it.
   *
   * @throws ClusterException if it fails
   */
  public static void run(String command) {
    if (!hasSucceeded(List.of(command.split(" ")))) {
      throw new ClusterException(
          ClusterException.Reason.IO, "The command failed: " + command + ".");
    }
  }

  private static boolean hasSucceeded(List<String> command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return false;
      }
      return process.exitValue() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
