// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.distance;

import com.sun.jna.LastErrorException;
import io.isolde.cluster.Network;
import io.isolde.cluster.ToolException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;

/**
 * Hosts as those of {@link Network}, but far from one another: whatever one sends to another
 * arrives after a time that is always the same. This process, which is no host, is near to all of
 * them.
 */
final class DistantHosts {
  /** This process. */
  private static final int HERE = 254;

  private static final int DESTINATION_AT = 19;

  /** What comes on top is lost, as routers lose it. */
  private static final int MAX_UNDER_WAY = 20_000;

  /** A packet on its way. */
  @SuppressWarnings("ArrayRecordComponent") // never compared by it
  private record Packet(byte[] bytes, long number, long dueNanos) implements Delayed {
    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(dueNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    /** In the order in which they are sent: all of them take the same time. */
    @Override
    public int compareTo(Delayed other) {
      Packet packet = (Packet) other;
      int byTime = Long.signum(dueNanos - packet.dueNanos);
      return byTime != 0 ? byTime : Long.compare(number, packet.number);
    }
  }

  private volatile long oneWayNanos;
  private final Map<Integer, Tun> devices = new HashMap<>();
  private final Map<Integer, DelayQueue<Packet>> arriving = new HashMap<>();

  private DistantHosts() {}

  /** Whether this machine can have them. */
  static boolean arePossible() {
    return Network.isPossible() && Files.isWritable(Path.of(Tun.DEVICE));
  }

  /**
   * Sets them up, in the network namespace of this process: once. They are near, until told.
   *
   * @param hosts how many, at {@link Network#address}
   */
  static DistantHosts create(int hosts) {
    DistantHosts network = new DistantHosts();
    for (int host = 1; host <= hosts; host++) {
      Network.addNamespace(host);
      network.connect(host, "ip -n " + Network.namespace(host));
    }
    network.connect(HERE, "ip");
    network.devices.keySet().forEach(network::start);
    return network;
  }

  /** Moves them apart: a packet takes so long from one to another from now on. */
  void move(Duration oneWay) {
    oneWayNanos = oneWay.toNanos();
  }

  private void connect(int host, String ip) {
    String name = "far" + host;
    devices.put(host, new Tun(name));
    arriving.put(host, new DelayQueue<>());
    if (host != HERE) {
      Network.run("ip link set %s netns %s".formatted(name, Network.namespace(host)));
    }
    Network.run("%s addr add %s/24 dev %s".formatted(ip, Network.address(host), name));
    Network.run("%s link set %s mtu %d up".formatted(ip, name, Tun.MTU));
  }

  private void start(int host) {
    startThread("from-host-" + host, () -> send(host));
    startThread("to-host-" + host, () -> receive(host));
  }

  private static void startThread(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void send(int from) {
    long number = 0;
    while (true) {
      byte[] packet = read(from);
      int to = packet.length > DESTINATION_AT ? packet[DESTINATION_AT] & 0xff : 0;
      DelayQueue<Packet> queue = isVersion4(packet) ? arriving.get(to) : null;
      if (queue != null && queue.size() < MAX_UNDER_WAY) {
        long takesNanos = from == HERE || to == HERE ? 0 : oneWayNanos;
        queue.add(new Packet(packet, number++, System.nanoTime() + takesNanos));
      }
    }
  }

  private byte[] read(int from) {
    try {
      return devices.get(from).read();
    } catch (LastErrorException e) {
      throw new ToolException("Host " + from + " is heard no more: " + e + ".", e);
    }
  }

  /** Others, such as what looks for routers, are of no use here. */
  private static boolean isVersion4(byte[] packet) {
    return packet.length > 0 && packet[0] >> 4 == 4;
  }

  private void receive(int host) {
    try {
      while (true) {
        devices.get(host).write(arriving.get(host).take().bytes());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (LastErrorException e) {
      throw new ToolException("Host " + host + " can't be reached any more: " + e + ".", e);
    }
  }
}
