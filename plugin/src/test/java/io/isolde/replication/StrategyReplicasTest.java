// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.Layout;
import io.isolde.group.Location;
import io.isolde.group.Placement;
import io.isolde.group.ReplicaCounts;
import io.isolde.testing.CassandraInProcess;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.dht.Murmur3Partitioner.LongToken;
import org.apache.cassandra.dht.Range;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.locator.AbstractNetworkTopologySnitch;
import org.apache.cassandra.locator.AbstractReplicationStrategy;
import org.apache.cassandra.locator.EndpointsByRange;
import org.apache.cassandra.locator.IEndpointSnitch;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.NetworkTopologyStrategy;
import org.apache.cassandra.locator.SimpleStrategy;
import org.apache.cassandra.locator.TokenMetadata;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Layouts compared with what Cassandra's own strategies make of the same ring. */
class StrategyReplicasTest {
  private static final int TOKENS = 4;

  private static final Map<InetAddressAndPort, Location> PLACES = new HashMap<>();

  private static IEndpointSnitch before;

  private final Map<Layout.Member, Location> nodes = new HashMap<>();
  private final List<Layout.Place> ring = new ArrayList<>();
  private final TokenMetadata cassandras = new TokenMetadata();

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    before = DatabaseDescriptor.getEndpointSnitch();
    DatabaseDescriptor.setEndpointSnitch(
        new AbstractNetworkTopologySnitch() {
          @Override
          public String getDatacenter(InetAddressAndPort node) {
            return PLACES.containsKey(node)
                ? PLACES.get(node).datacenter()
                : before.getDatacenter(node);
          }

          @Override
          public String getRack(InetAddressAndPort node) {
            return PLACES.containsKey(node) ? PLACES.get(node).rack() : before.getRack(node);
          }
        });
  }

  @AfterAll
  static void stop() {
    DatabaseDescriptor.setEndpointSnitch(before);
  }

  static LongStream seeds() {
    return LongStream.rangeClosed(1, 50);
  }

  private void addDatacenter(String name, int racks, int nodesPerRack, Random random)
      throws UnknownHostException {
    for (int i = 0; i < racks * nodesPerRack; i++) {
      Location at = new Location(name, "r" + i % racks);
      String address = "127.0.98." + (1 + nodes.size()) + ":7000";
      InetAddressAndPort endpoint = InetAddressAndPort.getByName(address);
      PLACES.put(endpoint, at);
      Layout.Member node = new Layout.Member("n" + nodes.size(), address);
      nodes.put(node, at);
      List<Token> tokens = new ArrayList<>();
      for (int token = 0; token < TOKENS; token++) {
        ring.add(new Layout.Place(random.nextLong(), node));
        tokens.add(new LongToken(ring.get(ring.size() - 1).token()));
      }
      cassandras.updateNormalTokens(tokens, endpoint);
    }
  }

  private static Set<InetAddressAndPort> members(Layout.Group group) {
    return group.members().stream().map(ReplicatedLogStrategy::address).collect(Collectors.toSet());
  }

  private void assertSame(Layout layout, AbstractReplicationStrategy strategy, Random random) {
    for (int i = 0; i < 100; i++) {
      long token = i % 2 == 0 ? random.nextLong() : ring.get(i % ring.size()).token();
      assertThat(members(layout.groupOf(token)))
          .isEqualTo(
              strategy.calculateNaturalReplicas(new LongToken(token), cassandras).endpoints());
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whenThereAreEnoughRacksThenReplicasAreThoseOfNetworkTopologyStrategy(long seed)
      throws Exception {
    Random random = new Random(seed);
    Map<String, Integer> wanted = new HashMap<>();
    Map<String, String> options = new HashMap<>();
    int replicas = 0;
    for (int datacenter = 0; datacenter < 1 + random.nextInt(3); datacenter++) {
      int racks = 1 + random.nextInt(4);
      addDatacenter("dc" + datacenter, racks, 1 + random.nextInt(3), random);
      int count = 1 + random.nextInt(racks);
      wanted.put("dc" + datacenter, count);
      options.put("dc" + datacenter, String.valueOf(count));
      replicas += count;
    }
    Layout layout =
        Layout.of(
            ring,
            Placement.of(nodes, new ReplicaCounts(replicas, wanted, Optional.empty())),
            1 + random.nextInt(3));
    IEndpointSnitch snitch = DatabaseDescriptor.getEndpointSnitch();
    assertSame(layout, new NetworkTopologyStrategy("k", cassandras, snitch, options), random);
    options = KeyspaceOptions.made(options, layout);
    options.remove("class");
    assertSame(layout, new ReplicatedLogStrategy("k", cassandras, snitch, options), random);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whenThereIsOneRackThenReplicasAreThoseOfSimpleStrategy(long seed) throws Exception {
    Random random = new Random(seed);
    int size = 1 + random.nextInt(6);
    addDatacenter("dc", 1, size, random);
    int replicas = 1 + random.nextInt(size);
    Layout layout = Layout.of(ring, Placement.of(nodes, ReplicaCounts.of(replicas)), 1);
    Map<String, String> options = Map.of("replication_factor", String.valueOf(replicas));
    assertSame(
        layout,
        new SimpleStrategy("k", cassandras, DatabaseDescriptor.getEndpointSnitch(), options),
        random);
  }

  /** What {@code nodetool describering}, repairs and drivers that ask for it see. */
  @ParameterizedTest
  @MethodSource("seeds")
  void whenCassandraAsksForTheReplicasOfAllRangesThenItGetsThoseOfTheLayout(long seed)
      throws Exception {
    Random random = new Random(seed);
    addDatacenter("east", 2, 2, random);
    addDatacenter("west", 1, 2, random);
    Map<String, Integer> wanted = Map.of("east", 2, "west", 1);
    Layout layout =
        Layout.of(
            ring,
            Placement.of(nodes, new ReplicaCounts(3, wanted, Optional.of("east"))),
            1 + random.nextInt(3));
    Map<String, String> options =
        KeyspaceOptions.made(Map.of("east", "2", "west", "1", "leaders", "east"), layout);
    options.remove("class");
    ReplicatedLogStrategy strategy =
        new ReplicatedLogStrategy("k", cassandras, DatabaseDescriptor.getEndpointSnitch(), options);
    strategy.validateOptions();
    assertThat(strategy.recognizedOptions()).containsAll(options.keySet());
    assertThat(strategy.getReplicationFactor().allReplicas).isEqualTo(3);
    Set<Range<Token>> ranges = new HashSet<>();
    EndpointsByRange replicas = strategy.getRangeAddresses(cassandras);
    for (Range<Token> range : replicas.keySet()) {
      ranges.add(range);
      long end = ((LongToken) range.right).getLongValue();
      assertThat(replicas.get(range).endpoints()).isEqualTo(members(layout.groupOf(end)));
    }
    assertThat(ranges)
        .isEqualTo(
            layout.spans().stream()
                .map(
                    span ->
                        new Range<Token>(new LongToken(span.start()), new LongToken(span.end())))
                .collect(Collectors.toSet()));
  }
}
