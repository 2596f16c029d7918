// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import io.isolde.cluster.ClusterException.Reason;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.NotificationListener;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** What Cassandra's nodetool does, as far as local clusters need it, over JMX. */
public final class NodeTool implements AutoCloseable {

  private static final String STORAGE_SERVICE = "org.apache.cassandra.db:type=StorageService";

  private static final long CONNECT_SECONDS = 60;

  /** Cassandra's types of events: error, abort, success. */
  private static final Set<Integer> REPAIR_ENDS = Set.of(2, 3, 4);

  private static final int REPAIR_SUCCEEDED = 4;

  private final JMXConnector connector;
  private final MBeanServerConnection server;

  private NodeTool(JMXConnector connector) throws IOException {
    this.connector = connector;
    this.server = connector.getMBeanServerConnection();
  }

  /** The other side is a node that this module started on this machine, hence trusted. */
  @SuppressWarnings("BanJNDI")
  static NodeTool connect(String address, int port) {
    String url = "service:jmx:rmi:///jndi/rmi://%s:%d/jmxrmi".formatted(address, port);
    // A thread of its own, as there is no other bound: a node that is paused takes connections.
    FutureTask<NodeTool> connecting =
        new FutureTask<>(() -> new NodeTool(JMXConnectorFactory.connect(new JMXServiceURL(url))));
    Thread thread = new Thread(connecting, "isolde-jmx-connect");
    thread.setDaemon(true);
    thread.start();
    try {
      return connecting.get(CONNECT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new ClusterException(
          Reason.JMX_FAILED, "JMX on %s:%d can't be reached.".formatted(address, port), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException(Reason.INTERRUPTED, "The waiting thread was interrupted.", e);
    }
  }

  /** Writes the memtables of tables (of all, if none is named) to SSTables. */
  public void flush(String keyspace, String... tables) {
    storageService("forceKeyspaceFlush", keyspace, tables);
  }

  /** Compacts the SSTables of tables (of all, if none is named) into one. */
  public void compact(String keyspace, String... tables) {
    storageService("forceKeyspaceCompaction", false, keyspace, tables);
  }

  /** Rewrites the SSTables of tables (of all, if none is named) without the rows deleted since. */
  public void garbageCollect(String keyspace, String... tables) {
    storageService("garbageCollect", "ROW", 1, keyspace, tables);
  }

  /**
   * Repairs all that this node has of a keyspace, and waits until that is done.
   *
   * @param isFull all data is compared; else what no repair has seen yet
   * @throws ClusterException if it fails, or takes longer than the bound
   */
  public void repair(String keyspace, boolean isFull, Duration bound) {
    Map<String, String> options = new HashMap<>();
    options.put("incremental", Boolean.toString(!isFull));
    Map<String, Integer> outcomes = new ConcurrentHashMap<>();
    NotificationListener listener =
        (event, unused) -> {
          if (event.getUserData() instanceof Map<?, ?> data
              && data.get("type") instanceof Integer type
              && REPAIR_ENDS.contains(type)) {
            outcomes.putIfAbsent((String) event.getSource(), type);
          }
        };
    try {
      ObjectName service = new ObjectName(STORAGE_SERVICE);
      server.addNotificationListener(service, listener, null, null);
      try {
        Object[] arguments = {keyspace, options};
        String[] types = {String.class.getName(), Map.class.getName()};
        String name = "repair:" + server.invoke(service, "repairAsync", arguments, types);
        if (!Waiting.until(bound, () -> outcomes.containsKey(name))
            || outcomes.get(name) != REPAIR_SUCCEEDED) {
          throw new ClusterException(
              Reason.JMX_FAILED,
              "The repair of %s failed, or was not over after %d s."
                  .formatted(keyspace, bound.toSeconds()));
        }
      } finally {
        server.removeNotificationListener(service, listener);
      }
    } catch (JMException | IOException e) {
      throw failed("repair of " + keyspace, e);
    }
  }

  /** Lets the tables (all, if none is named) compact by themselves again. */
  public void enableAutoCompaction(String keyspace, String... tables) {
    storageService("enableAutoCompaction", keyspace, tables);
  }

  /** Keeps the tables (all, if none is named) from compacting by themselves. */
  public void disableAutoCompaction(String keyspace, String... tables) {
    storageService("disableAutoCompaction", keyspace, tables);
  }

  /** Refuses further writes and flushes everything; the node must be restarted afterwards. */
  public void drain() {
    storageService("drain");
  }

  /**
   * Has the node leave the cluster for ever; returns when others have what it had. Even if fewer
   * nodes remain than a keyspace has replicas.
   */
  public void decommission() {
    storageService("decommission", true);
  }

  /** Empties the cache of where partitions lie in SSTables. */
  public void invalidateKeyCache() {
    invoke("org.apache.cassandra.db:type=Caches", "invalidateKeyCache");
  }

  /** Collects the garbage of the node's Java heap. */
  public void collectHeapGarbage() {
    invoke("java.lang:type=Memory", "gc");
  }

  /** Returns the bytes in use of the node's Java heap. */
  public long usedHeapBytes() {
    var usage = (CompositeData) attribute("java.lang:type=Memory", "HeapMemoryUsage");
    return (Long) usage.get("used");
  }

  /** Returns the addresses of the nodes that this node sees as up, itself included. */
  public List<String> liveNodes() {
    return addresses("LiveNodes");
  }

  /**
   * Returns the addresses of the nodes that this node knows to have joined the ring, up or down. A
   * node is seen as up a moment before.
   */
  public Set<String> joinedNodes() {
    Set<String> joined = new HashSet<>();
    ((Map<?, ?>) attribute(STORAGE_SERVICE, "TokenToEndpointMap"))
        .values()
        .forEach(address -> joined.add(address.toString()));
    addresses("JoiningNodes").forEach(joined::remove);
    return joined;
  }

  private List<String> addresses(String attribute) {
    return ((List<?>) attribute(STORAGE_SERVICE, attribute))
        .stream().map(Object::toString).toList();
  }

  /** Returns an attribute of any MBean, for what has no method here. */
  public Object attribute(String bean, String attribute) {
    try {
      return server.getAttribute(new ObjectName(bean), attribute);
    } catch (JMException | IOException | RuntimeException e) {
      throw failed(bean + "." + attribute, e);
    }
  }

  /** Invokes an operation of any MBean; the argument types must be exactly its parameter types. */
  public Object invoke(String bean, String operation, Object... arguments) {
    String[] signature = new String[arguments.length];
    for (int i = 0; i < arguments.length; i++) {
      signature[i] = parameterType(arguments[i]);
    }
    try {
      return server.invoke(new ObjectName(bean), operation, arguments, signature);
    } catch (JMException | IOException | RuntimeException e) {
      throw failed(bean + "." + operation, e);
    }
  }

  private void storageService(String operation, Object... arguments) {
    invoke(STORAGE_SERVICE, operation, arguments);
  }

  /** MBeans declare primitive types where arguments come boxed. */
  private static String parameterType(Object argument) {
    if (argument instanceof Boolean) {
      return "boolean";
    }
    if (argument instanceof Integer) {
      return "int";
    }
    if (argument instanceof List) {
      return List.class.getName();
    }
    return argument instanceof Long ? "long" : argument.getClass().getName();
  }

  private static ClusterException failed(String what, Exception cause) {
    return new ClusterException(
        Reason.JMX_FAILED, "The management call %s failed: %s".formatted(what, cause), cause);
  }

  @Override
  public void close() {
    try {
      connector.close();
    } catch (IOException nothingToRelease) {
      // The node is gone, and the connection with it.
    }
  }
}
