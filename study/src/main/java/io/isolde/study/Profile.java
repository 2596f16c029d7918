// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import io.isolde.cluster.ToolException;
import io.isolde.study.distances.Distances;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How far apart the nodes of a local cluster are to be.
 *
 * @param distances as {@link Distances} reads them; empty for none
 * @param datacenters the names of those over which the nodes are spread, in turn
 * @param racks of each datacenter, likewise
 */
public record Profile(String name, String distances, List<String> datacenters, int racks) {

  private static final Map<String, Profile> KNOWN = new LinkedHashMap<>();

  static {
    List<String> one = List.of("dc1");
    add(new Profile("none", "", one, 1));
    add(new Profile("lan", "rack: 0.2ms + exp 0.3ms\n", one, 1));
    add(new Profile("racks", "rack: 0.2ms + exp 0.3ms\ndatacenter: 1ms + exp 4ms\n", one, 4));
    add(new Profile("disks", "rack: 0.5ms + exp 1ms\nwrites: exp 15ms\n", one, 1));
    add(
        new Profile(
            "regions",
            "rack: 0.2ms + exp 0.3ms\ndatacenter: 0.5ms + exp 0.5ms\nelsewhere: 30ms + exp 10ms\n",
            List.of("dc1", "dc2", "dc3"),
            1));
  }

  private static void add(Profile profile) {
    KNOWN.put(profile.name, profile);
  }

  /** The names of those that are built in. */
  public static String names() {
    return String.join(", ", KNOWN.keySet());
  }

  /**
   * One that is built in, or a file of distances; then with the datacenters and racks that these
   * distances are between.
   *
   * @throws ToolException if there is neither, or the file isn't understood, or leaves out how far
   *     two datacenters are from each other
   */
  public static Profile of(String nameOrFile) {
    Profile known = KNOWN.get(nameOrFile);
    if (known != null) {
      return known;
    }
    try {
      String text = Files.readString(Path.of(nameOrFile));
      var unused = Distances.parse(text);
      GivenDistances given = GivenDistances.of(text);
      return new Profile(nameOrFile, text, given.datacenters(), given.racks());
    } catch (IOException e) {
      throw new ToolException(
          "\"%s\" is neither a profile (%s) nor a file that can be read."
              .formatted(nameOrFile, names()),
          e);
    } catch (IllegalArgumentException e) {
      throw new ToolException(nameOrFile + ": " + e.getMessage(), e);
    }
  }

  /** Whether nodes of the same rack are held up, or nothing is said of any node. */
  boolean hasRackDistance() {
    return distances.isEmpty() || GivenDistances.of(distances).has(GivenDistances.RACK);
  }

  String datacenterOf(int node) {
    return datacenters.get(node % datacenters.size());
  }

  String rackOf(int node) {
    return "rack" + (1 + node / datacenters.size() % racks);
  }
}
