package controllers

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// tenant makes an account with one of Kubernetes' own roles in a namespace.
func tenant(t *testing.T, s *stage, namespace, role string) client.Client {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: role}},
	}
	for _, o := range []client.Object{account, binding} {
		if err := s.Objects().Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return s.as(t, namespace, role)
}

func TestTenantsManageTheirVPodsAndNothingElse(t *testing.T) {
	t.Parallel()
	s := sharedStage(t)
	name := labtest.Name(t)
	for _, namespace := range []string{name, name + "-foreign"} {
		if err := s.CreateNamespace(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
	}
	vpod := func(namespace string) *v1alpha1.VPod {
		return &v1alpha1.VPod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "x"},
			Spec:       v1alpha1.VPodSpec{PoolName: name, Replicas: new(int32(0))},
		}
	}
	pool := &v1alpha1.AdapterPool{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.AdapterPoolSpec{
		StatefulSetRef: v1alpha1.StatefulSetReference{Namespace: name, Name: name}, Capacity: 1,
	}}
	for _, o := range []client.Object{vpod(name), pool} {
		if err := s.Objects().Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	other := vpod(name)
	other.Name = "y"
	const scale, status = `{"spec":{"replicas":2}}`, `{"status":{"readyReplicas":7}}`
	reads, writes := []string{"view", "edit", "admin"}, []string{"edit", "admin"}
	requests := map[string]struct {
		request request
		allowed []string
	}{
		"reads a VPod":                {toGet(vpod(name)), reads},
		"lists VPods":                 {toList(&v1alpha1.VPodList{}, client.InNamespace(name)), reads},
		"creates a VPod":              {toCreate(other), writes},
		"changes a VPod":              {toPatch(vpod(name), scale), writes},
		"scales a VPod":               {toScale(vpod(name), 2), writes},
		"deletes a VPod":              {toDelete(vpod(name)), writes},
		"deletes all VPods":           {toDeleteAll(&v1alpha1.VPod{}, client.InNamespace(name)), writes},
		"writes a status":             {toPatchStatus(vpod(name), status), nil},
		"creates one for another":     {toCreate(vpod(name + "-foreign")), nil},
		"lists those of all":          {toList(&v1alpha1.VPodList{}), nil},
		"lists pools":                 {toList(&v1alpha1.AdapterPoolList{}), nil},
		"changes a pool":              {toPatch(pool, `{"spec":{"capacity":2}}`), nil},
		"writes the status of a pool": {toPatchStatus(pool, `{"status":{"used":7}}`), nil},
		"deletes a pool":              {toDelete(pool), nil},
		"creates a pool":              {toCreate(&v1alpha1.AdapterPool{ObjectMeta: metav1.ObjectMeta{Name: name + "-2"}, Spec: pool.Spec}), nil},
	}
	for _, role := range reads {
		account := tenant(t, s, name, role)
		for what, tc := range requests {
			t.Run(role+" "+what, func(t *testing.T) { checkAllowed(t, account, tc.request, slices.Contains(tc.allowed, role)) })
		}
	}
}

// Who may view the cluster as a whole sees the pools.
func TestViewersOfTheClusterSeePools(t *testing.T) {
	t.Parallel()
	s := sharedStage(t)
	name := labtest.Name(t)
	if err := s.CreateNamespace(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	account := tenant(t, s, name, "view")
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: name, Name: "view"}},
	}
	if err := s.Objects().Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	pool := &v1alpha1.AdapterPool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	checkAllowed(t, account, toList(&v1alpha1.AdapterPoolList{}), true)
	checkAllowed(t, account, toDelete(pool), false)
}
