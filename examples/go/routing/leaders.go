// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"errors"
	"net"
	"sort"
	"strconv"
	"strings"
	"sync"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

const maxRanges = 10_000

// tokenRange is above its start and up to its end, around the ring if the end is not above the start.
type tokenRange struct {
	group      string
	start, end int64
}

func (r tokenRange) contains(token int64) bool {
	if r.start < r.end {
		return r.start < token && token <= r.end
	}
	return token > r.start || token <= r.end
}

// LeaderFirst asks the leader of a strong keyspace's partition first, where answers have named it. All
// else goes where another policy says.
type LeaderFirst struct {
	gocql.HostSelectionPolicy
	lock    sync.RWMutex
	hosts   map[string]*gocql.HostInfo // by address and port
	ranges  map[string][]tokenRange    // by keyspace, in the order of their ends
	count   int
	leaders map[string]string // from groups to addresses and ports
}

func NewLeaderFirst(other gocql.HostSelectionPolicy) *LeaderFirst {
	p := &LeaderFirst{HostSelectionPolicy: other, hosts: map[string]*gocql.HostInfo{}}
	p.forget()
	return p
}

func (p *LeaderFirst) forget() {
	p.ranges, p.leaders, p.count = map[string][]tokenRange{}, map[string]string{}, 0
}

// Learn reads who leads from the answer to a request for a strong keyspace. It returns whether the request
// was passed on.
func (p *LeaderFirst) Learn(keyspace string, answer *gocql.Iter) bool {
	payload := answer.GetCustomPayload()
	leader, group := string(payload["isolde-leader"]), payload["isolde-group"]
	if leader == "" || len(group) != 32 {
		return leader != ""
	}
	known := tokenRange{
		group: string(group[:16]),
		start: int64(binary.BigEndian.Uint64(group[16:])),
		end:   int64(binary.BigEndian.Uint64(group[24:])),
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if found, ok := p.find(keyspace, known.end); !ok || found != known {
		p.add(keyspace, known)
	}
	p.leaders[known.group] = leader
	return true
}

func (p *LeaderFirst) add(keyspace string, known tokenRange) {
	if p.count >= maxRanges {
		p.forget()
	}
	kept := []tokenRange{known}
	for _, other := range p.ranges[keyspace] {
		// Those that overlap were of a keyspace of that name that was dropped.
		if !other.contains(known.end) && !known.contains(other.end) {
			kept = append(kept, other)
		}
	}
	sort.Slice(kept, func(i, j int) bool { return kept[i].end < kept[j].end })
	p.count += len(kept) - len(p.ranges[keyspace])
	p.ranges[keyspace] = kept
}

func (p *LeaderFirst) find(keyspace string, token int64) (tokenRange, bool) {
	ranges := p.ranges[keyspace]
	if len(ranges) == 0 {
		return tokenRange{}, false
	}
	i := sort.Search(len(ranges), func(i int) bool { return token <= ranges[i].end })
	found := ranges[i%len(ranges)]
	return found, found.contains(token)
}

// Pick has the leader first. If it does not answer in time, the nodes of the other policy follow, and the
// answer of one of them names the new leader.
func (p *LeaderFirst) Pick(statement gocql.ExecutableStatement) gocql.NextHost {
	rest := p.HostSelectionPolicy.Pick(statement)
	leader := p.leader(statement)
	if leader == nil {
		return rest
	}
	isFirst := true
	return func() gocql.SelectedHost {
		if isFirst {
			isFirst = false
			return asked{leader, func() { p.doubt(leader) }}
		}
		next := rest()
		if next != nil && next.Info().HostID() == leader.HostID() {
			next = rest()
		}
		return next
	}
}

func (p *LeaderFirst) leader(statement gocql.ExecutableStatement) *gocql.HostInfo {
	key, err := statement.GetRoutingKey() // sets the keyspace, too
	if err != nil || key == nil || isOfAnyReplica(statement.Statement()) {
		return nil
	}
	p.lock.RLock()
	defer p.lock.RUnlock()
	found, ok := p.find(statement.Keyspace(), token(key))
	if !ok {
		return nil
	}
	return p.hosts[p.leaders[found.group]]
}

// isOfAnyReplica tells whether any replica answers it, so that the leader need not.
func isOfAnyReplica(statement gocql.Statement) bool {
	query, ok := statement.(*gocql.Query)
	if !ok || (query.GetConsistency() != gocql.One && query.GetConsistency() != gocql.LocalOne) {
		return false
	}
	text := strings.TrimSpace(query.Statement())
	return len(text) >= 6 && strings.EqualFold(text[:6], "SELECT")
}

// doubt forgets a leader that does not answer. Another node's answer names the next one, or has none to name
// because that node leads now.
func (p *LeaderFirst) doubt(leader *gocql.HostInfo) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for group, name := range p.leaders {
		if p.hosts[name] == leader {
			delete(p.leaders, group)
		}
	}
}

type asked struct {
	host  *gocql.HostInfo
	doubt func()
}

func (a asked) Info() *gocql.HostInfo { return a.host }

// Mark is called when the request has ended. An error of the server is an answer. If the context of the request has
// ended before cluster.Timeout, the driver says nothing: give the context more time than that.
func (a asked) Mark(err error) {
	var answer gocql.RequestError
	if err != nil && !errors.As(err, &answer) {
		a.doubt()
	}
}

func (p *LeaderFirst) set(host *gocql.HostInfo, isUp bool) {
	address := host.RPCAddress()
	if len(address) == 0 {
		address = host.ConnectAddress()
	}
	name := net.JoinHostPort(address.String(), strconv.Itoa(host.Port()))
	p.lock.Lock()
	defer p.lock.Unlock()
	if isUp {
		p.hosts[name] = host
	} else {
		delete(p.hosts, name)
	}
}

func (p *LeaderFirst) AddHost(host *gocql.HostInfo) {
	p.set(host, true)
	p.HostSelectionPolicy.AddHost(host)
}

func (p *LeaderFirst) RemoveHost(host *gocql.HostInfo) {
	p.set(host, false)
	p.HostSelectionPolicy.RemoveHost(host)
}

func (p *LeaderFirst) HostUp(host *gocql.HostInfo) {
	p.set(host, true)
	p.HostSelectionPolicy.HostUp(host)
}

func (p *LeaderFirst) HostDown(host *gocql.HostInfo) {
	p.set(host, false)
	p.HostSelectionPolicy.HostDown(host)
}
