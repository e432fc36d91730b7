package placement

// domains numbers the zones, or the hosts, that are in use: small numbers index slices faster than names index maps.
type domains struct {
	byName map[string]int32
	list   []domain
	vacant []int32
}

type domain struct {
	name string
	// adapters is how many adapters are in it; its number is free to be used again at 0.
	adapters int
}

// enter counts one more adapter in a domain and returns the domain's number.
func (d *domains) enter(name string) int32 {
	i, known := d.byName[name]
	if !known {
		i = d.number(name)
	}
	d.list[i].adapters++
	return i
}

// leave counts one adapter less.
func (d *domains) leave(i int32) {
	d.list[i].adapters--
	if d.list[i].adapters == 0 {
		delete(d.byName, d.list[i].name)
		d.vacant = append(d.vacant, i)
	}
}

func (d *domains) number(name string) int32 {
	if d.byName == nil {
		d.byName = map[string]int32{}
	}
	i := int32(len(d.list))
	if last := len(d.vacant) - 1; last >= 0 {
		i = d.vacant[last]
		d.vacant = d.vacant[:last]
		d.list[i].name = name
	} else {
		d.list = append(d.list, domain{name: name})
	}
	d.byName[name] = i
	return i
}
